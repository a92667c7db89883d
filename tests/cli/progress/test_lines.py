from pathlib import Path

import pytest
from tests.cli.progress.conftest import make_item

from convex_evals.cli.progress.board import Board
from convex_evals.cli.progress.lines import ProgressLines
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import StepName
from convex_evals.runner import Finished, Generating, Grading, Halted, Retrying, StepFinished
from convex_evals.scores import Outcome

ITEM = make_item()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def lines(said: list[str]) -> ProgressLines:
    lines = ProgressLines([ITEM], Board(total=1), said.append)
    lines(Generating(ITEM))
    lines(Grading(ITEM))
    return lines


def step(name: StepName, excerpt: str) -> StepResult:
    return StepResult(name, "failed", 1.0, 1.0, (), excerpt, Path("log"))


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (Outcome("passed"), "1/1  passed  000-a/000-b"),
        (Outcome("failed", "tsc"), "1/1  failed  000-a/000-b  tsc: index.ts(1,1): error"),
        (Outcome("infrastructure", failure="disk-full"), "1/1  infrastructure  000-a/000-b  tsc: index.ts(1,1): error"),
        (Outcome("infrastructure", broken="no tests\nat all"), "1/1  infrastructure  000-a/000-b  tsc: no tests"),
    ],
)
def test_an_eval_that_is_done_says_what_decided(
    lines: ProgressLines, said: list[str], outcome: Outcome, line: str
) -> None:
    lines(StepFinished(ITEM, step("tsc", "\nindex.ts(1,1): error\nmore")))
    lines(Finished(ITEM, outcome))
    assert said == [line]


def test_a_run_that_is_halted_says_why(lines: ProgressLines, said: list[str]) -> None:
    lines(Halted("r" * 32, "openai/gpt", "The key in OPENAI_API_KEY is refused."))
    assert said == [
        "The key in OPENAI_API_KEY is refused. Nothing more is asked of openai/gpt; the rest of its run can be resumed."
    ]


def test_without_any_step_the_notes_say_it(lines: ProgressLines, said: list[str]) -> None:
    lines(Finished(ITEM, Outcome("infrastructure", failure="worker-died", notes=("The worker died.",))))
    assert said == ["1/1  infrastructure  000-a/000-b  The worker died."]


def test_retries_are_told_and_what_was_said_before_them_is_forgotten(lines: ProgressLines, said: list[str]) -> None:
    lines(StepFinished(ITEM, step("tsc", "an accident")))
    lines(Retrying(ITEM, "The worker died."))
    lines(Grading(ITEM))
    lines(Finished(ITEM, Outcome("passed")))
    assert said == ["tried again  000-a/000-b  The worker died.", "1/1  passed  000-a/000-b"]


def test_what_a_model_printed_is_shown_as_text(lines: ProgressLines, said: list[str]) -> None:
    lines(StepFinished(ITEM, step("tests", "\x1b[2Jgone")))
    lines(Finished(ITEM, Outcome("failed", "tests")))
    assert said == [r"1/1  failed  000-a/000-b  tests: \x1b[2Jgone"]
