from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import LENGTH
from convex_evals.scores import Counts, Fingerprints, Outcome, PendingEval, PlannedEval, RunFilter, RunPlan, ScoresStore

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
def test_an_impossible_plan_is_refused(changes: dict[str, Any], sentence: str) -> None:
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


@pytest.mark.both_engines
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


@pytest.mark.both_engines
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


EVAL = "000-a/000-b"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """Stands where the scores look at the time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self, zone: Any) -> datetime:
        return BEGAN + timedelta(seconds=self.seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in ("runs", "attempts", "steps"):
        monkeypatch.setattr(f"convex_evals.scores.{module}.datetime", clock)
    return clock


def test_the_time_between_two_sessions_is_not_counted_as_work(scene: Any, clock: Clock) -> None:
    store: ScoresStore = scene.store
    run = scene.run()
    store.begin_attempt(run, EVAL)
    clock.seconds = 60
    store.finish_run(run, "stopped", "interrupted")
    clock.seconds = 86_400
    store.resume_run(run)
    store.begin_attempt(run, EVAL)
    clock.seconds += 30
    store.finish_run(run, "completed")
    found = store.find_run(run)
    assert found.worked == timedelta(seconds=90)
    assert found.finished_at is not None and found.finished_at - found.started_at == timedelta(seconds=86_430)


def test_the_time_in_which_a_run_waits_for_another_one_is_not_counted_as_work(scene: Any, clock: Clock) -> None:
    store: ScoresStore = scene.store
    run = scene.run()
    clock.seconds = 70
    assert store.pages.grid(run).working_since is None
    store.begin_attempt(run, EVAL)
    clock.seconds = 213
    store.finish_run(run, "stopped", "interrupted")
    store.resume_run(run)
    clock.seconds = 300
    store.finish_run(run, "stopped", "interrupted")
    assert store.find_run(run).worked == timedelta(seconds=143)


def test_a_process_that_was_killed_worked_until_it_last_recorded_something(scene: Any, clock: Clock) -> None:
    store: ScoresStore = scene.store
    run = scene.run()
    clock.seconds = 10
    begun = store.begin_attempt(run, EVAL)
    clock.seconds = 25
    store.record_step(begun.id, scene.step(b"log"))
    assert store.find_run(run).worked == timedelta(0)
    clock.seconds = 1_000
    store.resume_run(run)
    assert store.find_run(run).worked == timedelta(seconds=15)
    store.begin_attempt(run, EVAL)
    clock.seconds = 1_005
    store.finish_run(run, "completed")
    assert store.find_run(run).worked == timedelta(seconds=20)


def test_trials_can_be_added_to_some_evals(scene: Any) -> None:
    store: ScoresStore = scene.store
    run = scene.run()
    with pytest.raises(UsageError, match="Trial 2 of eval"):
        store.begin_attempt(run, EVAL, 2)
    before = store.find_run(run).counts.total
    store.add_trials(run, [(EVAL, 2), (EVAL, 3)])
    found = store.find_run(run)
    assert (found.trials, found.counts.total) == (1, before + 2)
    assert [(each.eval, each.trial) for each in store.pending(run) if each.trial > 1] == [(EVAL, 2), (EVAL, 3)]
    store.finish_attempt(store.begin_attempt(run, EVAL, 2).id, Outcome("passed"))
    assert [each.trial for each in store.pending(run) if each.eval == EVAL] == [1, 3]


@pytest.mark.parametrize("table", ["work_periods", "extra_trials"])
def test_what_is_over_is_never_changed_or_deleted(scene: Any, execute: Any, table: str) -> None:
    run = scene.run()
    scene.store.add_trials(run, [(EVAL, 2)])
    scene.store.finish_run(run, "completed")
    change = "started_at = NULL" if table == "work_periods" else "trial = 9"
    for statement in (f"UPDATE {table} SET {change}", f"DELETE FROM {table}"):
        with pytest.raises(Exception, match=f"{table} are never changed or deleted"):
            execute(statement)


A, B = "000-a/000-b", "000-a/001-c"


def test_what_has_no_verdict_is_pending(scene: Any) -> None:
    run_id = scene.run(B, A, trials=2)
    assert scene.store.pending(run_id) == tuple(
        PendingEval(name, trial, 0, False, None) for name in (A, B) for trial in (1, 2)
    )
    scene.attempt(run_id, A, 1, "passed")
    scene.attempt(run_id, A, 2, "failed")
    scene.attempt(run_id, B, 1, "skipped")
    assert scene.store.pending(run_id) == (PendingEval(B, 2, 0, False, None),)
    scene.attempt(run_id, B, 2, "infrastructure")
    assert scene.store.pending(run_id) == (PendingEval(B, 2, 1, True, None),)
    scene.attempt(run_id, B, 2, "passed")
    assert scene.store.pending(run_id) == ()


def test_resuming_marks_what_was_left_open_and_only_that(scene: Any) -> None:
    run_id, other = scene.run(A, B), scene.run(A)
    scene.attempt(run_id, A)
    scene.store.begin_attempt(run_id, B)
    scene.store.begin_attempt(other, A)
    assert scene.store.resume_run(run_id) == (PendingEval(B, 1, 1, False, None),)
    assert [each.status for each in scene.store.attempts(run_id)] == ["passed", "interrupted"]
    assert [each.status for each in scene.store.attempts(other)] == ["running"]
    assert scene.store.begin_attempt(run_id, B).number == 2


def test_a_stopped_run_continues(scene: Any) -> None:
    run_id = scene.run(A)
    scene.store.finish_run(run_id, "stopped", "Ctrl-C")
    scene.store.resume_run(run_id)
    run = scene.store.find_run(run_id)
    assert (run.status, run.reason, run.finished_at) == ("running", None, None)
    scene.attempt(run_id, A)
    scene.store.finish_run(run_id, "completed")
    assert scene.store.find_run(run_id).counts.passed == 1


def test_what_was_generated_is_not_generated_twice(scene: Any) -> None:
    run_id = scene.run(A)
    first = scene.store.begin_attempt(run_id, A)
    scene.store.record_generation(first.id, scene.generation())
    assert scene.store.resume_run(run_id) == (PendingEval(A, 1, 1, False, first.id),)
    second = scene.store.begin_attempt(run_id, A)
    scene.store.reuse_generation(second.id, first.id)
    scene.store.finish_attempt(second.id, Outcome("infrastructure"))
    scene.store.begin_attempt(run_id, A)
    assert scene.store.resume_run(run_id) == (PendingEval(A, 1, 3, True, second.id),)


def test_looking_changes_nothing(scene: Any) -> None:
    run_id = scene.run(A)
    scene.store.begin_attempt(run_id, A)
    before = scene.store.export_run(run_id)
    scene.store.pending(run_id)
    assert scene.store.export_run(run_id) == before
