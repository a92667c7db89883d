"""Completion as shells ask for it: through the variables that their scripts set."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from convex_evals.cli.app import command_tree
from convex_evals.cli.main import run

SAMPLES = [f"sample/{name}" for name in ("apprentice", *(f"blind-{number}" for number in range(1, 6)), "expert")]


@pytest.fixture
def offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], list[str]]:
    """What bash offers for the last word of a line."""
    monkeypatch.chdir(tmp_path)

    def offered(line: str) -> list[str]:
        with monkeypatch.context() as patch, pytest.raises(SystemExit):
            patch.setenv("_CONVEX_EVALS_COMPLETE", "complete_bash")
            patch.setenv("COMP_WORDS", line)
            patch.setenv("COMP_CWORD", str(line.count(" ")))
            run([])
        said = capsys.readouterr()
        assert not said.err
        return said.out.split()

    return offered


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("convex-evals task 000-", ["000-basics/000-first", "000-basics/001-second", "000-first", "000-index"]),
        ("convex-evals show latest ind", ["index"]),
        ("convex-evals list -c ba", ["basics"]),
        ("convex-evals list -c 00", ["000-basics", "001-queries"]),
        ("convex-evals run -m sample/", SAMPLES),
        ("convex-evals models check refer", ["reference"]),
        ("convex-evals ablate -m sample/", SAMPLES),
        ("convex-evals new-eval que", ["queries"]),
        ("convex-evals leaderboard -e def", ["default"]),
        ("convex-evals models discover --provider open", ["openai", "openrouter"]),
        ("convex-evals run -e def", ["default"]),
        ("convex-evals show ", []),
    ],
)
def test_existing_names_are_offered(
    offered: Callable[[str], list[str]], suite_folder: Path, line: str, expected: list[str]
) -> None:
    found = offered(line)
    assert set(expected) <= set(found)
    assert all(each.startswith(line.rpartition(" ")[2]) for each in found)


def test_runs_are_offered_by_the_first_characters_of_their_ids(
    offered: Callable[[str], list[str]], record_run: Callable[..., str]
) -> None:
    run = record_run({"000-first": "passed"})
    assert offered("convex-evals show ") == ["latest", run[:8]]
    for before in ("run --resume", "run --until-sure --against", "runs hide", "sync", "analyze label", "open"):
        assert offered(f"convex-evals {before} {run[:3]}") == [run[:8]]


def test_the_latest_run_of_each_model_is_offered_once_it_was_begun(
    offered: Callable[[str], list[str]], record_run: Callable[..., str]
) -> None:
    record_run({"000-first": "passed"}, model="openai/gpt")
    assert offered("convex-evals show la") == ["latest", "latest:openai/gpt"]


@pytest.mark.parametrize("line", ["convex-evals\nshow\nlatest\n:\nopen", "convex-evals\nshow\nlatest\n:"])
def test_bash_which_breaks_words_at_colons_is_offered_what_follows(
    offered: Callable[[str], list[str]], record_run: Callable[..., str], line: str
) -> None:
    record_run({"000-first": "passed"}, model="openai/gpt")
    assert offered(line) == ["openai/gpt"]


OFFERED = {"RUN": "run", "MODEL": "model", "EVAL": "eval", "CATEGORY": "category", "SLUG": "model"}


def parameters(group: TyperGroup, path: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            found += parameters(command, f"{path}{name} ")
        found += [(f"{path}{name} {parameter.opts[-1]}", parameter) for parameter in command.params]
    return found


def test_whatever_takes_a_run_a_model_an_eval_or_a_category_is_completed() -> None:
    taking = [
        (name, parameter)
        for name, parameter in parameters(command_tree())
        if str(parameter.metavar).strip("[]… ") in OFFERED
    ]
    assert len(taking) > 30
    assert [name for name, parameter in taking if parameter._custom_shell_complete is None] == []


def test_nothing_is_offered_where_nothing_can_be_read(offered: Callable[[str], list[str]], tmp_path: Path) -> None:
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "scores.db").write_text("not a database, and longer than a header would be" * 3)
    assert offered("convex-evals show ") == []
