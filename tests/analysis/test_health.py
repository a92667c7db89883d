"""Evals that several unrelated models fail in the same way."""

from collections.abc import Callable

import pytest

from convex_evals.analysis import suite_health
from convex_evals.analysis.health import Verdict, shared_failures
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.scores import Outcome, PlannedEval, RunPlan, ScoresStore
from convex_evals.suite import Suite

EVAL = "000-a/000-b"


def failed(model: str, received: str | None = "[2, 1]", check: str = "test:order") -> Verdict:
    complaint = Diagnostic("tests", "no", "test_order", expected="[1, 2]", received=received, fingerprint=check)
    return Verdict(EVAL, model, model.partition("/")[0], passed=False, complaints=(complaint,))


def passed(model: str) -> Verdict:
    return Verdict(EVAL, model, model.partition("/")[0], passed=True)


@pytest.mark.parametrize(
    ("verdicts", "suspicious"),
    [
        ([failed("a/x"), failed("b/y")], [True]),
        ([failed("a/x"), failed("b/y"), passed("c/z")], [True]),
        ([failed("a/x"), failed("b/y"), *(passed(f"c/{number}") for number in range(3))], [False]),
        ([failed("a/x"), failed("a/y")], [False]),
        ([failed("a/x"), failed("b/y", "[3]")], [False]),
        ([failed("a/x"), failed("b/y", None)], [False]),
        ([failed("a/x"), failed("b/y", check="test:other")], []),
        ([failed("a/x")], []),
    ],
    ids=[
        "all agree",
        "at least half",
        "most models pass",
        "one provider",
        "other answers",
        "answers unknown",
        "other checks",
        "one model",
    ],
)
def test_unrelated_models_that_agree_with_one_another_make_an_eval_suspicious(
    verdicts: list[Verdict], suspicious: list[bool]
) -> None:
    assert [each.is_suspicious for each in shared_failures(verdicts)] == suspicious


def test_it_says_who_failed_where_and_what_they_returned() -> None:
    [found] = shared_failures([failed("a/x"), failed("b/y"), passed("c/z")])
    assert str(found) == "2 of 3 models fail at test_order (a/x and b/y). All of them returned [2, 1]."


def test_the_whole_store_is_looked_at_and_the_latest_result_of_a_model_counts(
    record: Callable[..., str], store: ScoresStore
) -> None:
    record("failed", "passed", "passed", model="maker/one", provider="maker")
    record("failed", "failed", "passed", model="other/two", provider="other")
    record("passed", "passed", "passed", model="third/three", provider="third")
    found = suite_health(store)
    assert [(each.eval, each.models, each.is_suspicious) for each in found] == [
        ("000-basics/000-hello", ("maker/one", "other/two"), True)
    ]
    record("passed", "passed", "passed", model="maker/one", provider="maker")
    assert suite_health(store) == ()


def test_verdicts_of_a_grader_that_was_changed_since_are_left_out(
    record: Callable[..., str], store: ScoresStore, hello_suite: Suite
) -> None:
    record("failed", "passed", "passed", model="maker/one", provider="maker")
    record("failed", "failed", "passed", model="other/two", provider="other")
    first = PlannedEval(hello_suite.evals[0].id, hello_suite.evals[0].fingerprints.content, "a mended grader")
    run = store.create_run(RunPlan("third/three", "third", "default", (first,)))
    assert len(suite_health(store)) == 1
    store.finish_attempt(store.begin_attempt(run, first.eval).id, Outcome("passed"))
    assert suite_health(store) == ()
