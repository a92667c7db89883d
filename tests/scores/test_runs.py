from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import LENGTH
from convex_evals.scores import Counts, Fingerprints, PlannedEval, RunFilter, RunPlan, ScoresStore

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def test_a_run_comes_back_as_it_was_planned(store: ScoresStore, fingerprints: Fingerprints) -> None:
    evals = (PlannedEval("001-q/000-b", "c1", "g1"), PlannedEval("000-f/000-a", "c2", None))
    options = {"linter": "oxlint", "jobs": 2, "nested": {"list": [1, None, "ü"]}}
    run_id = store.create_run(RunPlan("m", "p", "web_search", evals, 3, fingerprints, options, ("nightly", "ü")))
    assert len(run_id) == LENGTH
    exported = store.export_run(run_id)
    run = exported.run
    assert (run.id, run.model, run.provider, run.experiment, run.status) == (run_id, "m", "p", "web_search", "running")
    assert (run.trials, run.fingerprints, run.options, run.labels) == (3, fingerprints, options, ("nightly", "ü"))
    assert run.counts == Counts(total=6) and run.counts.remaining == 6
    assert timedelta(0) <= datetime.now(UTC) - run.started_at < timedelta(minutes=1)
    assert run.finished_at is None and run.reason is None
    assert exported.evals == tuple(reversed(evals))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"trials": 0}, "at least one trial"), ({"evals": (PlannedEval("a"), PlannedEval("a"))}, "each eval once")],
)
def test_a_plan_that_cannot_be_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RunPlan(**{"model": "m", "provider": "p", "experiment": "e", "evals": (), **changes})


def test_the_same_name_at_two_providers_is_two_models(scene: Any, execute: Any) -> None:
    for provider in ("p1", "p2", "p1"):
        scene.run(provider=provider)
    assert sorted(execute("SELECT name, provider FROM models")) == [("m1", "p1"), ("m1", "p2")]


def named(execute: Any, scene: Any, *names: str) -> None:
    """Runs whose ids are known. Ids are random and never change, so these are made behind the store's back."""
    scene.run()
    model = execute("SELECT id FROM models")[0][0]
    for name in names:
        execute(
            "INSERT INTO runs (id, model_id, experiment, trials, options, labels, status, started_at) "
            f"VALUES ('{name}', {model}, 'default', 1, '{{}}', '[]', 'completed', '2026-01-01 00:00:00')"
        )


@pytest.mark.parametrize("length", [4, 5, 8, 31, 32])
def test_a_run_is_found_by_the_beginning_of_its_id(scene: Any, execute: Any, length: int) -> None:
    wanted = "abcd" + "1" * 28
    named(execute, scene, wanted, "abce" + "1" * 28, "zabcd" + "1" * 27)
    assert scene.store.find_run(wanted[:length]).id == wanted


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("", "Expected the id of a run or at least its first 4 characters, found ''; "),
        ("abc", "Expected the id of a run or at least its first 4 characters, found 'abc'; "),
        ("abcx", "There is no run 'abcx' in these scores; `convex-evals status` lists the runs."),
        ("ABCD1", "There is no run 'ABCD1' in these scores; "),
        ("abc_", "There is no run 'abc_' in these scores; "),
        ("abc%", "There is no run 'abc%' in these scores; "),
        ("abcd1" * 7, "There is no run '" + "abcd1" * 7 + "' in these scores; "),
        (
            "abcd",
            "6 runs begin with 'abcd' (abcd0000, abcd1111, abcd2222, abcd3333, abcd4444, …); "
            "give more characters of the one you mean.",
        ),
    ],
)
def test_anything_but_exactly_one_run_is_one_sentence(scene: Any, execute: Any, reference: str, sentence: str) -> None:
    named(execute, scene, *("abcd" + str(digit) * 28 for digit in range(6)))
    with pytest.raises(UsageError) as raised:
        scene.store.find_run(reference)
    assert str(raised.value).startswith(sentence)


def test_runs_are_listed_newest_first_and_filtered(scene: Any) -> None:
    first = scene.run()
    second = scene.run(model="m2", experiment="no_guidelines")
    third = scene.run(provider="p2")
    scene.store.finish_run(third, "stopped", "Ctrl-C")

    def ids(**conditions: Any) -> list[str]:
        return [run.id for run in scene.store.runs(RunFilter(**conditions))]

    assert ids() == [third, second, first]
    assert ids(limit=2) == [third, second]
    assert ids(model="m1") == [third, first]
    assert ids(provider="p1", experiment="default") == [first]
    assert ids(status="stopped") == [third]
    assert ids(since=datetime.now(UTC)) == [] and len(ids(since=LONG_AGO)) == 3
    assert ids(model="unknown") == []


def test_counts_take_the_latest_result_of_each_eval_and_trial(scene: Any) -> None:
    run_id = scene.run("000-a/000-b", "000-a/001-c", trials=2)
    other = scene.run()
    scene.attempt(run_id, "000-a/000-b", 1, "infrastructure")
    scene.attempt(run_id, "000-a/000-b", 1, "passed")
    scene.attempt(run_id, "000-a/000-b", 2, "failed")
    scene.attempt(run_id, "000-a/001-c", 1, "infrastructure")
    scene.store.begin_attempt(run_id, "000-a/001-c", 1)
    scene.attempt(other, status="skipped")
    newest, oldest = scene.store.runs()
    assert newest.counts == Counts(skipped=1, total=1)
    assert oldest.counts == Counts(passed=1, failed=1, infrastructure=1, total=4)
    assert oldest.counts.remaining == 1
    assert scene.store.runs(RunFilter(limit=1))[0].counts == newest.counts


def test_a_finished_run_says_when_and_why(scene: Any) -> None:
    run_id = scene.run()
    scene.store.finish_run(run_id, "failed", "the disk was full\0")
    run = scene.store.find_run(run_id)
    assert (run.status, run.reason) == ("failed", "the disk was full␀")
    assert run.finished_at >= run.started_at


@pytest.mark.parametrize("question", ["export_run", "resume_run", "pending"])
def test_a_run_that_is_not_there_is_one_sentence(store: ScoresStore, question: str) -> None:
    with pytest.raises(UsageError, match=r"^There is no run 'x'"):
        getattr(store, question)("x")
