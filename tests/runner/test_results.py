"""What runs say about a model: scores, which runs count, what failed last."""

from collections.abc import Callable

import pytest

from convex_evals.runner import (
    ABLATION,
    CHECK,
    VALIDATE,
    RunScore,
    last_failures,
    last_verdicts,
    scored_runs,
    tallies,
    why_no_score,
)
from convex_evals.scores import AttemptStatus, Outcome, PlannedEval, RunPlan, ScoresStore
from convex_evals.suite import Suite

MakeSuite = Callable[..., Suite]
FILTERED = {"filtered": True}


def record(store: ScoresStore, suite: Suite, ends: str, model: str = "m", **plan: object) -> str:
    """A run of the first evals of the suite: p passed, f failed, i without verdict, - not done; trials after commas."""
    trials = ends.split(",")
    planned = tuple(
        PlannedEval(each.id, each.fingerprints.content, each.fingerprints.grader)
        for each in suite.evals[: len(trials[0])]
    )
    run = store.create_run(RunPlan(model, "p", "default", planned, len(trials), **plan))  # type: ignore[arg-type]
    for trial, letters in enumerate(trials, 1):
        _record_trial(store, run, planned, trial, letters)
    store.finish_run(run, "completed")
    return run


def _record_trial(store: ScoresStore, run: str, planned: tuple[PlannedEval, ...], trial: int, letters: str) -> None:
    words: dict[str, AttemptStatus] = {"p": "passed", "f": "failed", "i": "infrastructure"}
    for each, letter in zip(planned, letters, strict=True):
        if letter != "-":
            attempt = store.begin_attempt(run, each.eval, trial)
            store.finish_attempt(attempt.id, Outcome(words[letter]))  # type: ignore[arg-type]


@pytest.fixture
def suite(make_suite: MakeSuite) -> Suite:
    return make_suite(3)


@pytest.mark.parametrize(
    ("ends", "labels", "why"),
    [
        ("pfp", (), None),
        ("pfp,ppp", (), None),
        ("pf", (), "other evals: 2 of 3 are the same as in the suite"),
        ("pfi", (), "incomplete: 1 of 3 has no verdict"),
        ("pii", (), "incomplete: 2 of 3 have no verdict"),
        ("pf-", (), "incomplete: 1 of 3 has no verdict"),
        ("pfp,pp-", (), "incomplete: 1 of 6 has no verdict"),
        ("ppp", (VALIDATE,), "labelled validate, so it says nothing about the model"),
        ("ppp", (CHECK,), "labelled check, so it says nothing about the model"),
        ("ppp", ("regrade", ABLATION), "labelled ablation, so it says nothing about the model"),
    ],
)
def test_only_a_complete_run_of_the_suite_has_a_score(
    store: ScoresStore, suite: Suite, ends: str, labels: tuple[str, ...], why: str | None
) -> None:
    run = record(store, suite, ends, labels=labels)
    assert why_no_score(store.find_run(run), store.planned(run), suite) == why
    assert list(scored_runs(store, suite)) == ([] if why else ["m"])


def test_the_newest_complete_run_of_each_model_counts(store: ScoresStore, suite: Suite) -> None:
    record(store, suite, "fff")
    newest = record(store, suite, "ppf")
    record(store, suite, "pp", options=FILTERED)
    record(store, suite, "ppp", labels=(CHECK,))
    other = record(store, suite, "ffp", model="other")
    assert {model: run.id for model, run in scored_runs(store, suite).items()} == {"m": newest, "other": other}


def runs_of_failures(store: ScoresStore) -> dict[str, frozenset[str]]:
    return {each.run.id: each.failed for each in last_verdicts(store, "m", "default") if each.failed}


def test_what_failed_last_is_that_of_the_last_run_of_all_evals_and_what_was_run_since(
    store: ScoresStore, suite: Suite
) -> None:
    first, second, third = (each.id for each in suite.evals)
    assert last_failures(store, "m", "default") is None and last_verdicts(store, "m", "default") == ()
    record(store, suite, "fff")
    whole = record(store, suite, "pff")
    record(store, suite, "f--", labels=(CHECK,))
    record(store, suite, "---", options=FILTERED)
    assert last_failures(store, "m", "default") == {second, third}
    some = record(store, suite, "fp", options=FILTERED)
    assert last_failures(store, "m", "default") == {first, third}
    assert runs_of_failures(store) == {some: {first}, whole: {third}}
    record(store, suite, "i", options=FILTERED)
    assert last_failures(store, "m", "default") == {first, third}
    assert last_failures(store, "m", "no_guidelines") is None


def test_where_nobody_ran_all_evals_what_was_run_counts(store: ScoresStore, suite: Suite) -> None:
    second = suite.evals[1].id
    earlier = record(store, suite, "ff", options=FILTERED)
    record(store, suite, "p", options=FILTERED)
    assert last_failures(store, "m", "default") == {second}
    assert runs_of_failures(store) == {earlier: {second}}


def test_an_eval_failed_when_one_of_its_trials_failed(store: ScoresStore, suite: Suite) -> None:
    record(store, suite, "pfi,ffi")
    assert last_failures(store, "m", "default") == {each.id for each in suite.evals[:2]}


def test_the_score_is_of_the_trials_that_every_eval_has(store: ScoresStore, suite: Suite) -> None:
    run = record(store, suite, "ppf")
    first = suite.evals[0].id
    store.add_trials(run, [(first, 2), (first, 3)])
    store.resume_run(run)
    for trial in (2, 3):
        store.finish_attempt(store.begin_attempt(run, first, trial).id, Outcome("failed"))
    store.finish_run(run, "completed")
    found = RunScore.of(store.find_run(run), store.results(run))
    assert found.score is not None and (found.score.value, found.score.trials) == (pytest.approx(2 / 3), 3)
    assert (found.repeats, found.flaky) == (None, (first,))
    assert tallies(store.results(run))[first].trials == 3


def test_several_trials_have_pass_at_k_over_the_evals_that_have_them_all(store: ScoresStore, suite: Suite) -> None:
    run = record(store, suite, "pfp,fip")
    found = RunScore.of(store.find_run(run), store.results(run))
    assert found.repeats is not None
    assert (found.repeats.trials, found.repeats.evals) == (2, 2)
    assert (found.repeats.pass_at, found.repeats.pass_all) == (1.0, 0.5)
    assert found.flaky == (suite.evals[0].id,)
