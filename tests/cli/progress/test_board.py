from pathlib import Path

import pytest
from tests.cli.progress.conftest import make_item

from convex_evals.cli.progress.board import Board, Row, clock_time, running_steps
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import Status, StepName
from convex_evals.runner import Finished, Generated, Generating, Grading, Retrying, StepFinished, Stopping
from convex_evals.scores import Outcome

FIRST, SECOND = (make_item(f"00{number}-b") for number in range(2))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def step(name: StepName, status: Status = "passed") -> StepResult:
    return StepResult(name, status, 1.0, 1.0, (), "", Path("log"))


def test_an_item_goes_from_the_model_to_its_end() -> None:
    board = Board(total=2)
    phases = []
    for event in (Generating(FIRST), Generated(FIRST), Grading(FIRST), Retrying(FIRST, "why"), Grading(FIRST)):
        board.take(event)
        phases.append(board.rows[FIRST].phase)
    assert phases == ["generating", "waiting", "grading", "retrying", "grading"]
    board.take(StepFinished(FIRST, step("filesystem")))
    assert board.rows[FIRST].steps == {"filesystem": "passed"}
    board.take(Finished(FIRST, Outcome("passed")))
    assert board.rows == {}
    assert board.done == 1


def test_steps_of_an_attempt_that_failed_by_accident_are_forgotten() -> None:
    board = Board(total=1)
    for event in (Grading(FIRST), StepFinished(FIRST, step("filesystem")), Retrying(FIRST, "why"), Grading(FIRST)):
        board.take(event)
    assert board.rows[FIRST].steps == {}


def test_the_summary_counts_and_guesses_the_rest() -> None:
    clock = Clock()
    board = Board(total=5, clock=clock)
    assert board.summary() == "0/5 · 0:00"
    clock.now += 60
    for status in ("passed", "failed", "infrastructure"):
        board.take(Generating(FIRST))
        board.take(Finished(FIRST, Outcome(status)))
    assert board.summary() == "3/5 · 1 passed · 1 failed · 1 without verdict · ETA 0:40 · 1:00"
    board.take(Grading(SECOND))
    board.take(Generated(FIRST))
    board.take(Stopping())
    assert board.summary() == (
        "3/5 · 1 passed · 1 failed · 1 without verdict · stopping: 1 in progress, Ctrl-C again stops now · 1:00"
    )


@pytest.mark.parametrize(
    ("static", "done", "running"),
    [
        (False, [], {"filesystem"}),
        (False, ["filesystem"], {"install"}),
        (False, ["filesystem", "install", "deploy"], {"tsc", "eslint", "tests"}),
        (False, ["filesystem", "install", "deploy", "tsc"], {"eslint", "tests"}),
        (True, [], {"filesystem"}),
        (True, ["filesystem"], {"tests"}),
    ],
)
def test_gates_run_one_after_the_other_and_the_rest_at_once(
    static: bool, done: list[StepName], running: set[StepName]
) -> None:
    item = make_item(static=static)
    assert running_steps(item, Row("grading", dict.fromkeys(done, "passed"))) == running


def test_nothing_runs_before_grading_begins() -> None:
    assert running_steps(FIRST, Row("waiting")) == set()


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (727, "12:07"), (3723, "1:02:03")])
def test_times_are_read_like_a_clock(seconds: float, text: str) -> None:
    assert clock_time(seconds) == text
