"""Which runs and evals get further trials, and when it is over. Verdicts are recorded by hand: no model is asked."""

from collections.abc import Callable, Sequence

import pytest

from convex_evals.models.model import EmptyModel
from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner import ActiveRun, Budget, Halt, UntilSure, WorkItem
from convex_evals.scores import Outcome, PlannedEval, RunPlan, ScoresStore
from convex_evals.suite import Suite

MakeSuite = Callable[..., Suite]


def begin(store: ScoresStore, suite: Suite, name: str, passed: Sequence[int]) -> ActiveRun:
    """A run that has had its first trial."""
    planned = tuple(PlannedEval(each.id, each.fingerprints.content, each.fingerprints.grader) for each in suite.evals)
    identifier = store.create_run(RunPlan(name, "p", "default", planned))
    work = tuple(WorkItem(identifier, name, "default", each, 1) for each in suite.evals)
    run = ActiveRun(identifier, EmptyModel(), GradingOptions(), work)
    carry_out(store, run, passed)
    return run


def carry_out(store: ScoresStore, run: ActiveRun, passed: Sequence[int]) -> None:
    for work in run.work:
        status = "passed" if int(work.eval.name[:3]) in passed else "failed"
        attempt = store.begin_attempt(run.id, work.eval.id, work.trial)
        store.finish_attempt(attempt.id, Outcome(status))  # type: ignore[arg-type]
    store.finish_run(run.id, "completed")


def given(runs: Sequence[ActiveRun]) -> dict[str, list[tuple[str, int]]]:
    return {run.id: [(work.eval.name[:3], work.trial) for work in run.work] for run in runs}


def test_only_runs_of_undecided_comparisons_get_trials(store: ScoresStore, make_suite: MakeSuite) -> None:
    suite = make_suite(12)
    everything = range(12)
    bad, good, better = (begin(store, suite, name, passed) for name, passed in PASSED.items())
    sure = UntilSure(store, [bad, good, better])
    first = sure.next_round()
    assert set(sure.decided) == {(bad.id, good.id), (bad.id, better.id)}
    assert {run.id for run in first} == {good.id, better.id}
    assert all(len(run.work) == 12 for run in first)
    for run in first:
        carry_out(store, run, everything[1:] if run.id == good.id else everything)
    second = sure.next_round()
    # Only on the first eval do they differ, and never otherwise: no further trial would tell.
    assert (second, sure.stopped) == ([], "no number of trials would decide the rest; it takes more evals")
    assert store.find_run(bad.id).counts.total == 12


PASSED = {"bad": (), "good": range(1, 12), "better": range(12)}


def test_settled_evals_get_no_further_trial(store: ScoresStore, make_suite: MakeSuite) -> None:
    suite = make_suite(3)
    runs = [begin(store, suite, name, passed) for name, passed in (("a", (0, 1)), ("b", (0, 2)))]
    sure = UntilSure(store, runs, looks=3)
    for run, passed in zip(sure.next_round(), ((0, 2), (0, 1)), strict=True):
        carry_out(store, run, passed)
    again = sure.next_round()
    assert given(again) == {run.id: [("001", 3), ("002", 3)] for run in runs}
    for run in again:
        carry_out(store, run, (1,))
    assert sure.next_round() == []
    assert sure.stopped == "every eval that mattered had 3 trials, the most that were asked for"


def test_a_run_that_it_is_compared_with_gets_no_trials(store: ScoresStore, make_suite: MakeSuite) -> None:
    suite = make_suite(2)
    stored, run = begin(store, suite, "stored", (0,)), begin(store, suite, "new", (1,))
    sure = UntilSure(store, [run], stored.id)
    assert given(sure.next_round()) == {run.id: [("000", 2), ("001", 2)]}
    assert store.find_run(stored.id).counts.total == 2


@pytest.mark.parametrize(("limit", "begins"), [(4.0, True), (3.9, False)])
def test_a_round_begins_only_if_the_budget_covers_it(
    store: ScoresStore, make_suite: MakeSuite, limit: float, begins: bool
) -> None:
    suite = make_suite(2)
    runs = [begin(store, suite, name, passed) for name, passed in (("a", (0,)), ("b", (1,)))]
    budget = Budget(limit, expect=lambda run, work: 0.75)
    budget.spent = 1.0
    sure = UntilSure(store, runs, budget=budget)
    assert bool(sure.next_round()) is begins
    assert sure.stopped == ("" if begins else "the next trials would cost about $3.00, and $2.90 of the budget is left")


def test_a_run_that_was_halted_ends_it(store: ScoresStore, make_suite: MakeSuite) -> None:
    suite = make_suite(2)
    runs = [begin(store, suite, name, passed) for name, passed in (("a", (0,)), ("b", (1,)))]
    runs[1].halted = Halt("failed", "The key was refused.")
    sure = UntilSure(store, runs)
    assert (sure.next_round(), sure.stopped) == ([], "The key was refused.")
