"""An option is one field: how it is spelled, explained and typed."""

from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from convex_evals.cli.app import command_tree
from convex_evals.cli.options import flag_of, takes
from convex_evals.cli.runs.options import ASKING, DECIDED_ANEW, RunOptions
from convex_evals.core.errors import UsageError
from convex_evals.pipeline.types import GradingOptions


@dataclass(frozen=True, slots=True)
class MoreOptions(RunOptions):
    """`run` with two more options, one of them for whoever grades. Nothing else is said about them anywhere."""

    loudness: Annotated[int | None, typer.Option("--loudness", help="How loud.")] = None
    fast_push: Annotated[bool, typer.Option("--fast-push", help="Without the CLI.")] = False


def test_an_option_that_is_added_to_the_fields_is_an_option_of_the_command_and_reaches_the_worker() -> None:
    seen: list[MoreOptions] = []
    app = typer.Typer()
    app.command()(takes(MoreOptions)(lambda options: seen.append(options)))
    arguments = ["-m", "one", "--model", "two", "--loudness", "11", "--fast-push", "--linter", "eslint"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    (options,) = seen
    assert (options.models, options.loudness) == (["one", "two"], 11)
    assert options.grading_options() == GradingOptions(linter="eslint", fast_push=True)
    assert {"loudness", "fast_push"} <= options.planned()


def test_commands_have_the_options_of_their_fields_and_their_own_words() -> None:
    commands = command_tree().commands
    flags = {name: [each.opts[0] for each in commands[name].params] for name in ("run", "validate", "demo")}
    all_of_run = [flag_of(RunOptions, field.name) for field in fields(RunOptions) if field.name != "purpose"]
    assert flags["run"] == all_of_run
    assert flags["validate"] == [flag for flag in all_of_run if flag in flags["validate"]]
    assert flags["demo"] == ["--category", "--filter", "--jobs", "--sandbox", "--json", "--scores"]
    assert (commands["run"].help or "").startswith("Run models on a suite")


def test_sets_of_options_name_fields_that_exist() -> None:
    assert {field.name for field in fields(RunOptions)} >= ASKING | DECIDED_ANEW
    assert not ASKING & DECIDED_ANEW


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (RunOptions(packages_before="soon"), "--packages-before must be a day like 2026-11-01, but it is 'soon'."),
        (RunOptions(answer_files=""), "--answer-files must be globs separated by commas"),
        (RunOptions(backend="mine"), "--backend must be embedded, official or the URL of a deployment"),
        (RunOptions(backend="http://127.0.0.1:1"), "needs the deployment's admin key; add --admin-key KEY."),
    ],
)
def test_values_that_grading_cannot_use_are_one_sentence(options: RunOptions, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence.replace("(", r"\(")):
        options.grading_options()
