"""The three moves of a change: columns that may be empty, a job that fills them, and a revision that demands them."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.scores.conftest import Scene
from tests.scores.old_database import until
from tests.scores.other_processes import other_process
from tests.scores.other_work import migrate_in_batches

from convex_evals.core.errors import UsageError
from convex_evals.scores import Counts, RunFilter, ScoresStore, database_status, migrate_data
from convex_evals.scores.database import find_location
from convex_evals.scores.schema import Revisions, upgrade_schema

JOB = "0010_count_finished_runs"
RUNS = 12
EVALS = ("000-a/000-b", "000-a/001-c")
COUNTS = Counts(passed=1, failed=1, skipped=0, infrastructure=1, total=4)
FORGET = "UPDATE runs SET counted_at = NULL, evals = NULL, total = NULL, passed = NULL"
BROKEN = (sqlite3.IntegrityError, psycopg.errors.CheckViolation)


@pytest.fixture
def previous(tmp_path: Path) -> Revisions:
    """The release that added the columns, and does not demand them yet."""
    return until(tmp_path / "previous", "0010")


@pytest.fixture
def old(server: Any, previous: Revisions, tmp_path: Path) -> Iterator[tuple[str, Scene]]:
    """Where runs are finished and not counted, as the code of before has left them; and a process of that release."""
    where = server.empty()
    upgrade_schema(find_location(where), previous)
    with ScoresStore.open(where, previous) as store:
        scene = Scene(store, tmp_path)
        for _ in range(RUNS):
            finish_one(scene)
        server.execute(where, FORGET)
        server.execute(where, f"UPDATE data_migrations SET state = 'pending', total = {RUNS}")
        yield where, scene


def finish_one(scene: Scene) -> str:
    run_id = scene.run(*EVALS, trials=2)
    scene.attempt(run_id, EVALS[0], status="infrastructure")
    scene.attempt(run_id, EVALS[0], status="passed")
    scene.attempt(run_id, EVALS[0], 2, status="failed")
    scene.attempt(run_id, EVALS[1], status="infrastructure")
    scene.store.finish_run(run_id, "completed")
    return run_id


@contextmanager
def over_and_over(work: Callable[[], None]) -> Iterator[None]:
    """In a thread, until the block ends; what goes wrong there goes wrong here."""
    over, errors = threading.Event(), []

    def repeat() -> None:
        while not over.wait(0.005):
            try:
                work()
            except BaseException as error:
                errors.append(error)
                return

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert errors == []


@pytest.mark.both_engines
def test_readers_and_writers_continue_while_it_is_killed_and_shared(
    old: tuple[str, Scene], server: Any, previous: Revisions
) -> None:
    where, scene = old

    def read() -> None:
        for run in scene.store.runs(RunFilter(status="completed")):
            assert (run.counts, run.evals) == (COUNTS, 2)

    def write() -> None:
        run_id = finish_one(scene)
        scene.store.resume_run(run_id)
        scene.store.finish_run(run_id, "completed")

    with over_and_over(read), over_and_over(write):
        with other_process(migrate_in_batches, where, 5) as killed:
            assert killed.hear() == 5
        job = database_status(where, previous).jobs[0]
        assert (job.name, job.state, job.done, job.total) == (JOB, "running", 5, RUNS)
        with other_process(migrate_in_batches, where, 2) as one, other_process(migrate_in_batches, where, 2) as other:
            for process in (one, other):
                for _ in range(RUNS):
                    process.line.send("go on")
            told = sorted(one.hear_all() + other.hear_all())
            assert (one.process.exitcode, other.process.exitcode) == (0, 0)
    assert told == [7, 9, 11, 12]  # each batch was done by one of them
    job = database_status(where, previous).jobs[0]
    assert (job.state, job.done, job.total, job.seconds_left) == ("done", RUNS, RUNS, 0)
    with ScoresStore.open(where) as tightened:
        assert {(run.counts, run.evals) for run in tightened.runs()} == {(COUNTS, 2)}
    with pytest.raises(BROKEN):
        server.execute(where, "UPDATE runs SET counted_at = NULL")


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_a_server_is_not_tightened_before_a_person_has_migrated_it(old: tuple[str, Scene], previous: Revisions) -> None:
    where, _ = old
    for _ in range(2):
        with pytest.raises(UsageError, match=rf"{JOB} is unfinished \(12 rows to go\).*run `convex-evals db migrate`"):
            ScoresStore.open(where)
    assert database_status(where, previous).condition == "current"
    assert [job.state for job in migrate_data(where)] == ["done"]
    with ScoresStore.open(where) as store:
        assert store.upgraded is not None and store.upgraded.changed


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_file_is_migrated_when_it_is_opened(old: tuple[str, Scene]) -> None:
    where, scene = old
    scene.store.close()
    with ScoresStore.open(where) as store:
        assert store.upgraded is not None and store.upgraded.backup is not None
        assert {run.counts for run in store.runs()} == {COUNTS}
        assert [(job.state, job.done) for job in store.jobs.status()] == [("done", RUNS)]


def test_a_run_that_older_code_has_finished_since_is_counted_again(old: tuple[str, Scene], server: Any) -> None:
    where, scene = old
    run_id = finish_one(scene)
    scene.store.resume_run(run_id)
    scene.attempt(run_id, EVALS[1], status="passed")
    # As it was before columns for counts: they still say what was true when it first finished.
    stale = "counted_at = '2026-01-01 00:00:00', evals = 2, total = 4"
    moment = "finished_at = '2026-01-02 00:00:00'"
    server.execute(where, f"UPDATE runs SET status = 'completed', {moment}, {stale} WHERE id = '{run_id}'")
    expected = Counts(passed=2, failed=1, infrastructure=0, total=4)
    assert scene.store.find_run(run_id).counts == expected
    migrate_data(where)
    assert server.execute(where, f"SELECT passed FROM runs WHERE id = '{run_id}' AND counted_at = finished_at") == [
        (2,)
    ]
    assert scene.store.find_run(run_id).counts == expected


def test_trials_that_are_added_to_a_finished_run_are_counted(scene: Scene) -> None:
    run_id = finish_one(scene)
    scene.store.add_trials(run_id, [(EVALS[0], 3)])
    assert scene.store.find_run(run_id).counts.total == COUNTS.total + 1
