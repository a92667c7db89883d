"""How long a run was worked on, and trials that are added to it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.scores import Outcome, ScoresStore

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
    for module in ("runs", "periods", "attempts", "generations", "steps"):
        monkeypatch.setattr(f"convex_evals.scores.{module}.datetime", clock)
    return clock


def test_the_time_between_two_sessions_is_no_work(scene: Any, clock: Clock) -> None:
    store: ScoresStore = scene.store
    run = scene.run()
    clock.seconds = 60
    store.finish_run(run, "stopped", "interrupted")
    clock.seconds = 86_400
    store.resume_run(run)
    clock.seconds += 30
    store.finish_run(run, "completed")
    found = store.find_run(run)
    assert found.worked == timedelta(seconds=90)
    assert found.finished_at is not None and found.finished_at - found.started_at == timedelta(seconds=86_430)


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
    assert store.find_run(run).worked == timedelta(seconds=25)
    clock.seconds = 1_005
    store.finish_run(run, "completed")
    assert store.find_run(run).worked == timedelta(seconds=30)


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
