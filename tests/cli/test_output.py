import io
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from convex_evals.cli import output

Command = Callable[..., subprocess.CompletedProcess[str]]


def test_a_table_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Console(width=30, force_terminal=True, color_system=None, markup=False)
    monkeypatch.setattr(output, "console", lambda: terminal)
    rows = output.table(["run", "model", "passed", "cost"], drop=("cost",))
    rows.add_row("0a1b2c3d", "tiny", "3", "$0.50 (provider)")
    assert output.table_lines(rows) == ["run       model  passed", "0a1b2c3d  tiny   3"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_are_broken_between_words_but_not_within_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(output.GIVEN, "options", {})  # those of a command that this process ran before
    screen = Terminal()
    output.print_lines(
        [
            "`convex-evals show 0a1b2c3d 002-queries/003-multicolumn_equality` shows everything about it.",
            "  convex-evals analyze record-action reports/sample/report.md TEXT",
            "a name of convex-evals.toml that ends the line",
        ],
        screen,
    )
    assert screen.getvalue().splitlines() == [
        "`convex-evals show 0a1b2c3d 002-queries/003-multicolumn_equality` shows",
        "    everything about it.",
        "  convex-evals analyze record-action reports/sample/report.md TEXT",
        "a name of convex-evals.toml that ends",
        "    the line",
    ]


def hints(text: str) -> list[str]:
    return [part for part in text.split("`")[1::2] if part.startswith("convex-evals ")]


def test_hints_of_a_run_repeat_its_scores_and_its_suite(
    convex_evals: Command, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    suite = hello_suite(2, wrong=[1]).rename(tmp_path / "my suite")
    scores = tmp_path / "mine.db"
    run = convex_evals("run", "-m", "reference", "--evals", suite, "--scores", scores)
    show, analyze, serve = hints(run.stderr + run.stdout)
    assert show.endswith(f" 001-hello --scores {scores} --evals {shlex.quote(str(suite))}")
    assert analyze.endswith(f"--scores {scores} --evals {shlex.quote(str(suite))}")
    assert serve == f"convex-evals serve --scores {scores} --evals {shlex.quote(str(suite))}"
    shown = convex_evals(*shlex.split(show)[1:])
    assert shown.returncode == 0 and shown.stdout.startswith("000-basics/001-hello · trial 1 · failed")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("show", "zzzz"), "convex-evals run --scores nowhere.db"),
        (("show", "--nope"), "convex-evals show --help"),
    ],
)
def test_mistakes_repeat_what_the_command_they_name_takes(
    convex_evals: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert hints(convex_evals(*arguments, "--scores", "nowhere.db").stderr)[0] == hint
