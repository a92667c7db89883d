"""Changes are counted, whoever makes them, so that what was read before is known to be old."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from convex_evals.scores import Benchmark, LabelRecord, Outcome, ScoresStore, attempts
from convex_evals.scores.migrations.triggers import COUNTED

EVALS = ("000-a/000-b", "000-a/001-c")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.both_engines
def test_every_table_that_pages_show_is_counted_by_triggers(server: Any, where: str) -> None:
    names = {f"{each.table}_count_{change.lower()}" for each in COUNTED for change in each.changes}
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger",
    }
    assert names <= {name for (name,) in server.execute(where, query[server.name])}


@pytest.mark.both_engines
def test_whatever_is_recorded_of_a_run_changes_its_key_and_no_other(scene: Any, store: ScoresStore) -> None:
    run, other = scene.run(*EVALS), scene.run(*EVALS)
    begun = store.begin_attempt(run, EVALS[0])
    label = LabelRecord(run, EVALS[0], 1, "KNOWN_GAP", "so it is", "ann", NOW)
    records: list[Callable[[], object]] = [
        lambda: store.record_generation(begun.id, scene.generation()),
        lambda: store.record_step(begun.id, scene.step(b"log")),
        lambda: store.finish_attempt(begun.id, Outcome("failed", failed_step="tests")),
        lambda: store.begin_attempt(run, EVALS[1]),
        lambda: store.add_trials(run, [(EVALS[0], 2)]),
        lambda: store.finish_run(run, "stopped"),
        lambda: store.labels.add(label),
        lambda: store.decisions.label(run, "odd", "ann", "to see it"),
        lambda: store.resume_run(run),
    ]
    for record in records:
        count, before = store.changes.count(), {key.id: key for key in store.history.index()}
        record()
        after = {key.id: key for key in store.history.index()}
        assert after[run].changes > before[run].changes
        assert after[other] == before[other]
        assert store.changes.count() > count


@pytest.mark.parametrize("decide", ["hide", "unhide", "delete"])
def test_decisions_are_counted_although_lists_do_not_show_the_run(scene: Any, store: ScoresStore, decide: str) -> None:
    run = scene.run(*EVALS)
    if decide == "unhide":
        store.decisions.hide(run, "ann", "first")
    count = store.changes.count()
    getattr(store.decisions, decide)(run, "ann", "to see it")
    assert store.changes.count() > count


def test_a_version_of_the_benchmark_is_counted_and_changes_no_run(scene: Any, store: ScoresStore) -> None:
    run = scene.run(*EVALS)
    before = store.history.index()
    count = store.changes.count()
    store.mint_benchmark(Benchmark("v1", store.planned(run), {}, "pipeline", "toolchain", NOW))
    assert store.changes.count() > count
    assert store.history.index() == before


def test_records_that_arrive_after_their_run_is_over_change_its_key(
    scene: Any, store: ScoresStore, team: ScoresStore
) -> None:
    """A batch says first that a run is over, and later what came of it."""
    run = scene.run(*EVALS)
    scene.attempt(run, EVALS[0])
    store.finish_run(run, "stopped")
    records = store.outbox.records(run)
    first = [each for each in records if type(each).__name__ in ("RunRecord", "PlannedEvalRecord", "WorkPeriodRecord")]
    team.intake.take_in(run, first)
    before = team.history.index()[0]
    team.intake.take_in(run, records)
    assert team.history.index()[0].changes > before.changes


@pytest.mark.both_engines
def test_of_two_writers_at_once_neither_is_missed_nor_waits(scene: Any, where: str, server: Any) -> None:
    """On a server, the one that began first may well end last. A file has one writer at a time anyway."""
    if server.name == "sqlite":
        return
    store, run = scene.store, scene.run(*EVALS)
    with ScoresStore.open(where) as other:
        with store._database.writing() as session:
            attempts.begin_attempt(session, run, EVALS[0], 1)
            session.flush()
            other.begin_attempt(run, EVALS[1])
            between = store.changes.count()
        assert store.changes.count() > between
