"""Several processes on one database, and processes that are killed."""

import random
import sqlite3
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.scores.other_processes import other_process
from tests.scores.other_work import open_new, write_attempts

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.verdicts import STEPS
from convex_evals.scores import AttemptDetails, Counts, ScoresStore

MANY = 300


def check_integrity(server: Any, where: str) -> None:
    if server.name == "sqlite":
        assert server.execute(where, "PRAGMA integrity_check") == [("ok",)]
        assert server.execute(where, "PRAGMA foreign_key_check") == []
    nameless = "SELECT count(*) FROM artifacts WHERE sha256 NOT IN (SELECT sha256 FROM artifact_chunks) AND size > 0"
    assert server.execute(where, nameless) == [(0,)]


def check_promises(store: ScoresStore, details: dict[str, AttemptDetails], promised: dict[str, list[str]]) -> None:
    for attempt_id, promises in promised.items():
        found = details[attempt_id]
        assert ("generated" not in promises) or found.generation is not None
        assert {step.name for step in found.steps} >= set(promises) & set(STEPS)
        assert ("finished" not in promises) or found.attempt.status == "passed"


def check_no_halves(store: ScoresStore, details: AttemptDetails) -> None:
    """Every step has its log, a generation is complete, and nothing was recorded before what precedes it."""
    for step in details.steps:
        assert store.read_text(details.logs[step.name]).startswith(f"{step.name} of {details.attempt.id}\n")
    assert tuple(step.name for step in details.steps) == STEPS[: len(details.steps)]
    if details.generation is None:
        assert not details.steps
        return
    response = store.read_text(details.generation.response)
    assert store.read_files(details.generation.files) == {"a.ts": response}
    assert details.generation.usage is not None


@pytest.mark.slow
@pytest.mark.both_engines
def test_killing_a_writer_at_any_moment_loses_at_most_what_was_in_flight(
    scene: Any, server: Any, where: str, tmp_path: Path
) -> None:
    moments = random.Random(2026)
    for _ in range(4):
        run_id = scene.run(trials=MANY)
        with other_process(write_attempts, where, run_id, "000-a/000-b", MANY, str(tmp_path)) as writer:
            first = writer.hear()
            time.sleep(moments.uniform(0, 0.15))
            writer.process.kill()
            said = [first, *writer.hear_all()]
        promised: dict[str, list[str]] = defaultdict(list)
        for what, attempt_id in said:
            promised[attempt_id].append(what)
        check_integrity(server, where)
        scene.store.resume_run(run_id)
        details = {each.attempt.id: each for each in scene.store.details(run_id)}
        check_promises(scene.store, details, promised)
        for each in details.values():
            check_no_halves(scene.store, each)
        statuses = [each.attempt.status for each in details.values()]
        assert statuses.count("interrupted") <= 1 and set(statuses) <= {"passed", "interrupted"}


@pytest.mark.slow
@pytest.mark.both_engines
def test_runs_of_several_processes_share_a_database(scene: Any, server: Any, where: str, tmp_path: Path) -> None:
    trials, evals = 5, ("000-a/000-b", "000-a/001-c")
    runs = [scene.run(*evals, trials=trials) for _ in range(2)]
    with ExitStack() as stack:
        writers = [
            stack.enter_context(other_process(write_attempts, where, run_id, name, trials, str(tmp_path)))
            for run_id in runs
            for name in evals
        ]
        assert [writer.hear_all()[-1][0] for writer in writers] == ["finished"] * 4
        assert [writer.process.exitcode for writer in writers] == [0, 0, 0, 0]
    for run_id in runs:
        exported = scene.store.export_run(run_id)
        assert exported.run.counts == Counts(passed=10, total=10)
        assert {len(each.steps) for each in exported.attempts} == {6}
        assert [each.attempt.number for each in exported.attempts] == [1] * 10
    check_integrity(server, where)


def test_many_threads_share_a_store(scene: Any) -> None:
    run_id = scene.run(trials=24)
    with ThreadPoolExecutor(12) as threads:
        list(threads.map(lambda trial: scene.attempt(run_id, trial=trial), range(1, 25)))
    assert scene.store.find_run(run_id).counts == Counts(passed=24, total=24)


@pytest.mark.both_engines
def test_two_that_begin_the_same_attempt_get_one_between_them(scene: Any, where: str) -> None:
    run_id = scene.run()

    def begin(_: int) -> bool:
        try:
            with ScoresStore.open(where) as own:
                own.begin_attempt(run_id, "000-a/000-b")
        except InfrastructureError as error:
            assert "is still open" in str(error)
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(begin, range(6))) == 1


@pytest.mark.slow
@pytest.mark.both_engines
def test_many_processes_can_open_a_new_database_at_once(server: Any, tmp_path: Path) -> None:
    where, complaints = server.empty(), [tmp_path / str(number) for number in range(4)]
    with ExitStack() as stack:
        started = [stack.enter_context(other_process(open_new, where, str(path))) for path in complaints]
        for other, path in zip(started, complaints, strict=True):
            assert other.hear_all() == []
            assert (other.process.exitcode, path.read_text()) == (0, "")
    with ScoresStore.open(where) as store:
        assert store.runs() == () and store.upgraded is None


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_reader_does_not_wait_for_a_writer(scene: Any, where: str) -> None:
    run_id = scene.run()
    writer = sqlite3.connect(where, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    before = time.monotonic()
    assert scene.store.find_run(run_id).id == run_id
    assert time.monotonic() - before < 20  # a third of what it would wait
    writer.close()
