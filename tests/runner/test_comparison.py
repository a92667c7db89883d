from datetime import UTC, datetime

import pytest

from convex_evals.core.verdicts import StepName
from convex_evals.runner import Change, Standing, compare, standings
from convex_evals.scores import AttemptRecord, AttemptStatus

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def result(
    status: AttemptStatus, step: StepName | None = None, eval: str = "000-a/000-b", trial: int = 1
) -> AttemptRecord:
    return AttemptRecord("a" * 32, "r" * 32, eval, trial, 1, status, step, None, None, 1.0, 1.0, None, (), NOW, NOW)


PASSED, FAILED, NO_VERDICT = result("passed"), result("failed", "tests"), result("infrastructure")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ([PASSED], [PASSED], "same"),
        ([FAILED], [FAILED], "same"),
        ([FAILED], [PASSED], "better"),
        ([PASSED], [FAILED], "worse"),
        ([FAILED], [result("failed", "tsc")], "other step"),
        ([PASSED], [NO_VERDICT], "no verdict"),
        ([NO_VERDICT], [FAILED], "no verdict"),
        ([], [PASSED], "only after"),
        ([PASSED], [], "only before"),
        ([PASSED, result("failed", "tests", trial=2)], [PASSED], "better"),
        ([PASSED, result("infrastructure", trial=2)], [PASSED], "same"),
    ],
)
def test_an_eval_changes(before: list[AttemptRecord], after: list[AttemptRecord], change: Change) -> None:
    assert [each.change for each in compare(before, after)] == [change]


def test_evals_are_compared_in_the_order_of_their_names() -> None:
    before = [result("passed", eval="001-b/000-x"), result("passed", eval="000-a/000-x")]
    compared = compare(before, [result("passed", eval="000-z/000-x")])
    assert [each.eval for each in compared] == ["000-a/000-x", "000-z/000-x", "001-b/000-x"]


def test_trials_are_counted_together() -> None:
    trials = [result("passed"), result("failed", "tsc", trial=2), result("infrastructure", trial=3)]
    assert standings(trials) == {"000-a/000-b": Standing(1, 1, "tsc")}
