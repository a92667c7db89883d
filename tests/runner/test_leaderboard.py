"""Which runs are ranked, and what is said of the others."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from convex_evals.core.diagnostics import TestResult
from convex_evals.core.errors import UsageError
from convex_evals.core.steps import StepResult
from convex_evals.models import find_model
from convex_evals.pipeline import GradingOptions
from convex_evals.runner.benchmarks import BenchmarkChange, compare_benchmarks, mint_benchmark
from convex_evals.runner.leaderboard import read_leaderboard, why_left_out
from convex_evals.runner.plans import BLIND, CHECK, VALIDATE, Request, plan_run
from convex_evals.runner.results import read_figures
from convex_evals.scores import (
    Benchmark,
    Fingerprints,
    Generation,
    Outcome,
    PlannedEval,
    RunPlan,
    ScoresStore,
    Usage,
)
from convex_evals.statistics import Interval
from convex_evals.suite import Eval, Selection, Suite

EVALS = tuple(PlannedEval(f"000-a/{number:03}-b", "content", "grader") for number in range(4))
PRINTS = Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="prompt")
V1 = Benchmark("v1", EVALS, {"default": "prompt", "no_guidelines": "bare"}, "pipeline", "toolchain", datetime.now(UTC))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ScoresStore]:
    with ScoresStore.open(tmp_path / "scores.db") as store:
        yield store


Answered = Callable[[str, str], None]


def no_answer(eval: str, attempt: str) -> None:
    pass


def record(
    store: ScoresStore,
    model: str,
    passed: int,
    prints: Fingerprints = PRINTS,
    answered: Answered = no_answer,
    **plan: object,
) -> str:
    run = store.create_run(
        RunPlan(model, "p", **{"experiment": "default", "evals": EVALS, "fingerprints": prints, **plan})
    )  # type: ignore[arg-type]
    for number, each in enumerate(EVALS):
        status = "passed" if number < passed else "failed"
        attempt = store.begin_attempt(run, each.eval)
        answered(each.eval, attempt.id)
        store.finish_attempt(attempt.id, Outcome(status, None if status == "passed" else "tests"))
    store.finish_run(run, "completed")
    return run


def test_samples_are_ranked_only_where_there_is_nothing_else(store: ScoresStore) -> None:
    record(store, "sample/expert", 4)
    assert [each.ranked.name for each in read_leaderboard(store, V1, "default").standings] == ["sample/expert"]
    record(store, "real", 1)
    found = read_leaderboard(store, V1, "default")
    assert [each.ranked.name for each in found.standings] == ["real"]
    assert [each.why for each in found.left_out] == ["a sample, not a model"]


def test_runs_of_a_model_count_together_and_their_spread_is_reported(store: ScoresStore) -> None:
    record(store, "real", 2)
    record(store, "real", 4)
    (standing,) = read_leaderboard(store, V1, "default").standings
    assert standing.ranked.score.value == 0.75
    assert (standing.ranked.score.trials, len(standing.runs)) == (8, 2)
    assert standing.spread == pytest.approx(0.3536, abs=1e-4)


@pytest.mark.parametrize(("asked", "total", "unknown"), [(4, 4.0, 0), (3, 3.0, 1), (0, 0.0, 0)])
def test_what_a_suite_costs_is_the_mean_of_what_asking_for_each_eval_cost(
    store: ScoresStore, asked: int, total: float, unknown: int
) -> None:
    """Runs that only grade again, or take answers from the cache, ask nobody and make no suite cheaper."""
    paid = {each.eval for each in EVALS[:asked]}
    first: dict[str, str] = {}

    def ask(eval: str, attempt: str, cached: bool = False) -> None:
        usage = Usage(cost_usd=1.0, cost_source="provider")
        store.record_generation(attempt, Generation("", "", {}, usage, from_cache=cached or eval not in paid))
        first.setdefault(eval, attempt)

    record(store, "real", 4, answered=ask)
    record(store, "real", 4, answered=lambda eval, attempt: store.reuse_generation(attempt, first[eval]))
    record(store, "real", 4, answered=lambda eval, attempt: ask(eval, attempt, cached=True))
    (standing,) = read_leaderboard(store, V1, "default").standings
    assert (standing.cost.total, standing.cost.known, standing.cost.unknown) == (total, asked, unknown)
    assert standing.cost_interval == (Interval(4.0, 4.0) if asked == len(EVALS) else None)


def test_models_are_scored_by_the_tags_of_evals(store: ScoresStore) -> None:
    record(store, "real", 1)
    tags = {EVALS[0].eval: ("hard", "contention"), EVALS[1].eval: ("hard",), "000-a/999-gone": ("gone",)}
    (standing,) = read_leaderboard(store, V1, "default", tags).standings
    assert {name: (each.value, each.evals) for name, each in standing.tags.items()} == {
        "contention": (1.0, 1),
        "hard": (0.5, 2),
    }
    assert {name: (each.value, each.evals) for name, each in standing.difficulties.items()} == {
        "hard": (0.5, 2),
        "no difficulty": (0.0, 2),
    }
    (untagged,) = read_leaderboard(store, V1, "default", {EVALS[0].eval: ("contention",)}).standings
    assert untagged.difficulties == {}


def test_what_guidelines_are_worth_is_the_difference_to_none(store: ScoresStore) -> None:
    record(store, "real", 4)
    record(
        store,
        "real",
        1,
        Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="bare"),
        experiment="no_guidelines",
    )
    (standing,) = read_leaderboard(store, V1, "default").standings
    assert standing.guidelines is not None
    assert standing.guidelines.difference == 0.75
    (bare,) = read_leaderboard(store, V1, "no_guidelines").standings
    assert bare.guidelines is None


def test_what_guidelines_are_worth_over_models_is_paired_by_eval(store: ScoresStore) -> None:
    bare = Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="bare")
    for model, with_them, without in (("one", 4, 1), ("two", 3, 3), ("three", 4, None)):
        record(store, model, with_them)
        if without is not None:
            record(store, model, without, bare, experiment="no_guidelines")
    found = read_leaderboard(store, V1, "default").guidelines
    assert found is not None and sorted(found.models) == ["one", "two"]
    assert found.worth.difference == pytest.approx((0 + 0.5 + 0.5 + 0.5) / 4)
    assert (found.worth.evals, found.worth.test) == (4, "sign-flip permutation")
    assert {name: each.difference for name, each in found.categories.items()} == {"000-a": found.worth.difference}
    assert read_leaderboard(store, V1, "no_guidelines").guidelines is None


@pytest.mark.parametrize(
    ("prints", "why"),
    [
        (Fingerprints(pipeline="other", toolchain="toolchain", prompt="prompt"), "other options"),
        (Fingerprints(pipeline="pipeline", toolchain="other", prompt="prompt"), "another toolchain"),
        (Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="other"), "another prompt"),
    ],
)
def test_runs_of_other_conditions_are_not_ranked(store: ScoresStore, prints: Fingerprints, why: str) -> None:
    record(store, "real", 4, prints)
    found = read_leaderboard(store, V1, "default")
    assert found.standings == ()
    assert why in found.left_out[0].why


def test_check_runs_are_not_even_listed(store: ScoresStore) -> None:
    record(store, "real", 4, labels=(CHECK,))
    found = read_leaderboard(store, V1, "default")
    assert (found.standings, found.left_out) == ((), ())


UNSEEN = StepResult("tests", "passed", test_results=(TestResult("test_page", "unseen"), TestResult("test_a", "passed")))


@pytest.fixture
def blind(store: ScoresStore, make_suite: Callable[..., Suite]) -> tuple[Suite, Callable[..., str]]:
    """A suite of which the second eval has a page, and a run of some of it on a machine without a browser."""
    suite = make_suite(2)

    def run(model: str, evals: Sequence[Eval] = suite.evals, *labels: str, passes: bool = True) -> str:
        asked = Request(suite, evals, GradingOptions().completed(suite.settings), labels=labels)
        begun = plan_run(find_model(model, store), asked).begin(store, f"tools{BLIND}")
        for each in evals:
            attempt = store.begin_attempt(begun.id, each.id)
            if passes and each is suite.evals[1]:
                store.record_step(attempt.id, UNSEEN)
            store.finish_attempt(attempt.id, Outcome("passed") if passes else Outcome("failed", "tests"))
        store.finish_run(begun.id, "completed")
        return begun.id

    return suite, run


def ranked_in(store: ScoresStore, version: Benchmark) -> dict[str, str | None]:
    return {each.run.id: why_left_out(each, version) for each in read_figures(store, [r.id for r in store.runs()])}


@pytest.mark.parametrize("validated", [1, 2])
def test_evals_without_pages_are_minted_and_ranked_without_a_browser(
    store: ScoresStore, blind: tuple[Suite, Callable[..., str]], validated: int
) -> None:
    suite, run = blind
    run("reference", suite.evals[:validated], VALIDATE)
    version = mint_benchmark("v1", suite, {}, store, Selection(names=("000-hello",)))
    assert version.toolchain == "tools"
    asked = run("empty", suite.evals[:1])
    assert ranked_in(store, version)[asked] is None


def test_evals_whose_pages_nobody_looked_at_are_neither_minted_nor_ranked(
    store: ScoresStore, blind: tuple[Suite, Callable[..., str]]
) -> None:
    suite, run = blind
    proof = run("reference", suite.evals, VALIDATE)
    with pytest.raises(UsageError, match="Nobody has looked at the pages"):
        mint_benchmark("v1", suite, {}, store, Selection())
    evals, pipeline = store.planned(proof), store.find_run(proof).fingerprints.pipeline or ""
    version = Benchmark("v1", evals, {}, pipeline, "tools", datetime.now(UTC))
    unseen, failed = run("empty"), run("empty", passes=False)
    assert ranked_in(store, version)[unseen] == "graded with another toolchain"
    assert ranked_in(store, version)[failed] is None


def test_versions_differ_by_eval_and_by_conditions() -> None:
    changed = (EVALS[0], PlannedEval(EVALS[1].eval, "other", "grader"), PlannedEval("001-new/000-x", "c", "g"))
    v2 = Benchmark("v2", changed, {"default": "new"}, "pipeline", "new", datetime.now(UTC))
    assert compare_benchmarks(V1, v2) == BenchmarkChange(
        added=("001-new/000-x",),
        removed=(EVALS[2].eval, EVALS[3].eval),
        task_changed=(EVALS[1].eval,),
        grader_changed=(),
        same=(EVALS[0].eval,),
        others=("toolchain", "prompt of default", "prompt of no_guidelines"),
    )
