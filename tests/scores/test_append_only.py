"""The database itself keeps what was recorded, whoever asks."""

import sqlite3
from typing import Any

import psycopg
import pytest

from convex_evals.core.diagnostics import Diagnostic, TestResult

EVAL = "000-a/000-b"
REFUSED = (sqlite3.IntegrityError, psycopg.errors.RaiseException)
DIAGNOSTICS = (Diagnostic("tests", "no", fingerprint="test:a"),)
TESTS = (TestResult("a", "failed", "no"),)
CHANGES = {
    "planned_evals": "eval = 'other'",
    "attempts": "status = 'passed'",
    "generations": "from_cache = NOT from_cache",
    "usage": "input_tokens = 0",
    "steps": "excerpt = ''",
    "diagnostics": "message = ''",
    "test_results": "status = 'passed'",
    "artifacts": "size = 0",
    "artifact_chunks": "position = 7",
    "runs": "trials = 9",
}


@pytest.fixture
def recorded(scene: Any) -> str:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_generation(begun.id, scene.generation())
    scene.store.record_step(begun.id, scene.step(b"log", name="tests", diagnostics=DIAGNOSTICS, test_results=TESTS))
    scene.store.finish_run(run_id, "stopped")
    return str(run_id)


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(table, marks=pytest.mark.both_engines) if table in ("attempts", "runs") else table
        for table in CHANGES
    ],
)
def test_nothing_recorded_can_be_changed_or_deleted(scene: Any, execute: Any, recorded: str, table: str) -> None:
    before = scene.store.export_run(recorded)
    for statement in (f"UPDATE {table} SET {CHANGES[table]}", f"DELETE FROM {table}"):
        with pytest.raises(REFUSED, match=f"{table} are never changed or deleted"):
            execute(statement)
    assert scene.store.export_run(recorded) == before


@pytest.mark.both_engines
def test_a_run_can_still_be_finished_and_labelled(execute: Any, recorded: str) -> None:
    execute("UPDATE runs SET status = 'completed', finished_at = NULL, reason = 'x', labels = '[\"a\"]'")
    assert execute("SELECT status FROM runs") == [("completed",)]


ATTEMPT = "INSERT INTO attempts (id, run_id, eval, trial, number, status, notes, started_at) SELECT 'x', run_id, "
STEP = (
    "INSERT INTO steps (attempt_id, name, status, duration_ms, cpu_ms, commands, excerpt, log, notes, recorded_at) "
    "SELECT id, "
)
NONSENSE = {
    "an unknown status": "UPDATE runs SET status = 'great'",
    "two open attempts": f"{ATTEMPT} eval, trial, 2, 'running', notes, started_at FROM attempts",
    "a number given twice": f"{ATTEMPT} eval, trial, 1, 'running', notes, started_at FROM attempts",
    "a verdict without an end": f"{ATTEMPT} eval, trial, 2, 'passed', notes, started_at FROM attempts",
    "an eval that is not planned": f"{ATTEMPT} 'unplanned', trial, 1, 'running', notes, started_at FROM attempts",
    "an unknown step": f"{STEP} 'coffee', 'passed', 1, 1, notes, '', NULL, notes, started_at FROM attempts",
    "a log that is not kept": f"{STEP} 'tsc', 'passed', 1, 1, notes, '', 'abc', notes, started_at FROM attempts",
    "a cost from nowhere": "INSERT INTO usage (attempt_id, cost_usd, cost_source) "
    "SELECT id, 1, 'unknown' FROM attempts",
}


@pytest.mark.parametrize("statement", NONSENSE.values(), ids=NONSENSE.keys())
def test_the_tables_refuse_nonsense(scene: Any, execute: Any, statement: str) -> None:
    scene.store.begin_attempt(scene.run(), EVAL)
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.IntegrityError)):
        execute(statement)
