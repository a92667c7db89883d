"""Every command is explained and spelled in one way."""

import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from convex_evals.cli.app import command_tree
from convex_evals.cli.tree import OurCommand, OurGroup, examples_of, spelled_out, summary_of

Command = Callable[..., subprocess.CompletedProcess[str]]
TREE = command_tree()


def contexts(context: typer.Context) -> Iterator[typer.Context]:
    yield context
    if isinstance(context.command, TyperGroup):
        for name, child in context.command.commands.items():
            yield from contexts(typer.Context(child, info_name=name, parent=context))


CONTEXTS = tuple(contexts(typer.Context(TREE, info_name="convex-evals", **TREE.context_settings)))
EXAMPLES = sorted({line for each in CONTEXTS for line in examples_of(each.command.help)})


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: context.command_path)
def test_help_has_no_type_annotations(context: typer.Context) -> None:
    shown = context.get_help()
    assert isinstance(context.command, (OurCommand, OurGroup)), "make groups with cli.tree.Commands"
    for word in ("<int", "<str", "<path", "range>", "{", "[[", "...\n", "x>=", "[required]"):
        assert word not in shown.replace("[ARGS]...\n", "")


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_example_of_the_help_can_be_typed(line: str) -> None:
    words = re.findall(r"'[^']*'|\S+", line.partition(" | ")[0].partition(" > ")[0])
    assert words.pop(0) == "convex-evals"
    context = typer.Context(TREE, info_name="convex-evals", **TREE.context_settings)
    while isinstance(context.command, TyperGroup) and words and words[0] in context.command.commands:
        context = typer.Context(context.command.commands[words.pop(0)], info_name="x", parent=context)
    context.command.parse_args(context, [word.strip("'") for word in words])


def test_the_help_of_every_command_has_examples() -> None:
    assert [each.command_path for each in CONTEXTS if not examples_of(each.command.help)] == []


def test_every_command_is_in_a_section_of_the_help() -> None:
    assert sorted(TREE.list_commands(CONTEXTS[0])) == sorted(TREE.commands)


@pytest.mark.parametrize("width", [60, 80, 140])
def test_help_fits_the_terminal_without_breaking_a_name(
    convex_evals: Command, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = convex_evals("run", "--help").stdout.partition("Examples:")[0]
    assert all(len(line) <= width for line in shown.splitlines())
    assert "convex-evals.toml" in shown and "postgresql://…" in shown


@pytest.mark.parametrize("width", [50, 60, 64, 70, 80])
def test_the_path_of_a_page_is_never_broken(convex_evals: Command, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert "docs/adding-a-model.md" in convex_evals("models", "list", "--help").stdout


def test_summaries_are_whole_sentences(convex_evals: Command) -> None:
    assert "..." not in convex_evals("--help").stdout.replace("[ARGS]...", "")
    assert summary_of("Show a run. Then more.\n\n    And more.") == "Show a run."


def test_analyze_run_is_in_the_help_of_analyze(convex_evals: Command) -> None:
    assert convex_evals("analyze", "--help").stdout.startswith(
        "Usage: convex-evals analyze [OPTIONS] RUN | COMMAND [ARGS]..."
    )


def parameters(name: str) -> list[Any]:
    return TREE.commands[name].params


@pytest.mark.parametrize(
    ("command", "given", "meant"),
    [
        ("run", ["--json", "-m", "x"], ["--json", "-", "-m", "x"]),
        ("run", ["-m", "x", "--json"], ["-m", "x", "--json", "-"]),
        ("run", ["--json", "-"], ["--json", "-"]),
        ("run", ["--json", "out.json"], ["--json", "out.json"]),
        ("status", ["--json", "-n", "-1"], ["--json", "-n", "-1"]),
        ("show", ["-1", "000-first", "--trial", "-1"], ["latest~0", "000-first", "--trial", "-1"]),
        ("compare", ["-2", "-1", "--json"], ["latest~1", "latest~0", "--json"]),
        ("compare", ["--", "-1"], ["--", "-1"]),
    ],
)
def test_what_is_left_out_is_spelled_out(command: str, given: list[str], meant: list[str]) -> None:
    assert spelled_out(given, parameters(command)) == meant


def test_debug_may_stand_anywhere(convex_evals: Command) -> None:
    for arguments in (["--debug", "list"], ["list", "--debug"]):
        result = convex_evals(*arguments, "--evals", "nowhere")
        assert result.returncode == 2
        assert result.stderr.startswith("Traceback (most recent call last)")


def test_older_spellings_work_and_are_not_shown(convex_evals: Command) -> None:
    assert convex_evals("db", "upgrade", "--db", "mine.db").returncode == 0
    assert "--db" not in convex_evals("db", "upgrade", "--help").stdout
    assert "--evals" not in convex_evals("analyze", "record-action", "--help").stdout
