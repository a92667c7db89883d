"""Several processes on one database, and processes that are killed."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.verdicts import STEPS
from convex_evals.scores import AttemptDetails, Counts, ScoresStore

WRITER = Path(__file__).parent / "write_attempts.py"
MANY = 300


def start(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, str(WRITER), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


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
def test_killing_a_writer_at_any_moment_loses_at_most_what_was_in_flight(
    scene: Any, server: Any, where: str, tmp_path: Path
) -> None:
    moments = random.Random(2026)
    for _ in range(4):
        run_id = scene.run(trials=MANY)
        with start(where, run_id, "000-a/000-b", MANY, tmp_path) as writer:
            assert writer.stdout is not None
            first = writer.stdout.readline()
            time.sleep(moments.uniform(0, 0.15))
            writer.send_signal(signal.SIGKILL)
            lines = [first, *writer.stdout]
        promised: dict[str, list[str]] = defaultdict(list)
        for what, attempt_id in (line.split() for line in lines if line.endswith("\n")):
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
def test_runs_of_several_processes_share_a_database(scene: Any, server: Any, where: str, tmp_path: Path) -> None:
    trials, evals = 5, ("000-a/000-b", "000-a/001-c")
    runs = [scene.run(*evals, trials=trials) for _ in range(2)]
    writers = [start(where, run_id, name, trials, tmp_path) for run_id in runs for name in evals]
    errors = [writer.communicate(timeout=200) and writer.returncode for writer in writers]
    assert errors == [0, 0, 0, 0]
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
def test_many_processes_can_open_a_new_database_at_once(server: Any) -> None:
    where = server.empty()
    program = "import sys; from convex_evals.scores import ScoresStore; ScoresStore.open(sys.argv[1]).close()"
    started = [
        subprocess.Popen([sys.executable, "-c", program, where], stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for process in started:
        _, errors = process.communicate(timeout=200)
        assert (process.returncode, errors) == (0, "")
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
