import sqlite3
from typing import Any

import psycopg
import pytest
from tests.scores.test_labels import EVAL, label

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.errors import UsageError
from convex_evals.scores import RunFilter

REFUSED = (sqlite3.IntegrityError, psycopg.errors.RaiseException)
OF_RUNS = ("runs", "planned_evals", "work_periods", "extra_trials", "labels")
OF_ATTEMPTS = ("attempts", "steps", "generations", "usage", "diagnostics", "test_results")
TABLES = (*OF_RUNS, *OF_ATTEMPTS)


@pytest.fixture
def recorded(scene: Any) -> str:
    """A run with a row in every table."""
    run_id = str(scene.run())
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_generation(begun.id, scene.generation("its own answer"))
    found = (Diagnostic("tests", "no", fingerprint="test:a"),)
    step = scene.step(b"its own log", name="tests", diagnostics=found, test_results=(TestResult("a", "failed", "no"),))
    scene.store.record_step(begun.id, step)
    scene.store.add_trials(run_id, [(EVAL, 2)])
    scene.store.labels.add(label(run_id))
    scene.store.finish_run(run_id, "stopped")
    return run_id


def rows(execute: Any, *tables: str) -> dict[str, int]:
    return {table: execute(f"SELECT count(*) FROM {table}")[0][0] for table in tables}


def test_a_hidden_run_is_left_out_of_lists_until_it_is_shown_again(scene: Any, recorded: str) -> None:
    made = scene.store.decisions.hide(recorded, "Ada", "It ran with a broken guideline file.")
    assert scene.store.runs() == ()
    assert [run.hidden for run in scene.store.runs(RunFilter(hidden=True))] == [True]
    assert scene.store.find_run(recorded).hidden
    with pytest.raises(UsageError, match="is hidden already"):
        scene.store.decisions.hide(recorded, "Ada", "again")
    shown = scene.store.decisions.unhide(recorded, "Ben", "The file was right.")
    assert [run.id for run in scene.store.runs()] == [recorded]
    assert scene.store.decisions.of_run(recorded) == (made, shown)


def test_a_label_of_a_run_has_an_author_and_a_reason(scene: Any, recorded: str) -> None:
    made = scene.store.decisions.label(recorded, "baseline", "Ada", "Before the new guidelines.")
    assert scene.store.find_run(recorded).labels == ("baseline",)
    with pytest.raises(UsageError, match="has the label 'baseline' already"):
        scene.store.decisions.label(recorded, "baseline", "Ada", "again")
    removed = scene.store.decisions.unlabel(recorded, "baseline", "Ada", "There is a newer one.")
    assert scene.store.find_run(recorded).labels == ()
    assert scene.store.decisions.of_run(recorded) == (made, removed)


def test_nothing_is_decided_without_a_reason(scene: Any, recorded: str) -> None:
    for decide in (scene.store.decisions.hide, scene.store.decisions.delete):
        with pytest.raises(UsageError, match="needs a reason; say it with --why"):
            decide(recorded, "Ada", " ")
    assert scene.store.decisions.of_run(recorded) == ()
    assert not scene.store.find_run(recorded).hidden


@pytest.mark.both_engines
def test_deleting_leaves_nothing_of_a_run_but_the_record(scene: Any, execute: Any, recorded: str) -> None:
    other = scene.run()
    scene.attempt(other)
    assert 0 not in rows(execute, *TABLES).values()
    made = scene.store.decisions.delete(recorded, "Ada", "It holds a customer's name.")
    left = {table: number for table, number in rows(execute, *TABLES).items() if number}
    assert left == {"runs": 1, "planned_evals": 1, "attempts": 1, "work_periods": 1}
    assert scene.store.decisions.of_run(recorded) == (made,)
    assert made.about is not None and made.about.startswith("p1/m1, default, 20")
    with pytest.raises(UsageError, match="There is no run"):
        scene.store.find_run(recorded)


@pytest.mark.parametrize(
    "table",
    [pytest.param(table, marks=pytest.mark.both_engines) if table == "attempts" else table for table in TABLES],
)
def test_the_record_of_one_run_deletes_no_other(scene: Any, execute: Any, recorded: str, table: str) -> None:
    scene.store.decisions.delete(scene.run(), "Ada", "A mistake.")
    with pytest.raises(REFUSED, match=f"{table} are never changed or deleted"):
        execute(f"DELETE FROM {table}")


@pytest.mark.parametrize("statement", ["UPDATE run_decisions SET who = 'Eve'", "DELETE FROM run_decisions"])
def test_records_of_decisions_stay(scene: Any, execute: Any, recorded: str, statement: str) -> None:
    scene.store.decisions.hide(recorded, "Ada", "why")
    with pytest.raises(REFUSED, match="run_decisions are never changed or deleted"):
        execute(statement)


def test_a_run_whose_answers_were_graded_again_is_deleted_after_that_one(scene: Any) -> None:
    asked, regraded = scene.run(), scene.run()
    first = scene.store.begin_attempt(asked, EVAL)
    scene.store.record_generation(first.id, scene.generation())
    scene.store.reuse_generation(scene.store.begin_attempt(regraded, EVAL).id, first.id)
    with pytest.raises(UsageError, match=f"Run {regraded[:8]} has graded answers of run {asked[:8]} again; delete"):
        scene.store.decisions.delete(asked, "Ada", "why")
    for run_id in (regraded, asked):
        scene.store.decisions.delete(run_id, "Ada", "why")
    assert scene.store.runs() == ()


def test_pruning_removes_what_only_deleted_runs_had(scene: Any, execute: Any, recorded: str) -> None:
    other = scene.store.begin_attempt(scene.run(), EVAL)
    scene.store.record_generation(other.id, scene.generation("another answer"))
    with pytest.raises(REFUSED, match="artifacts are never changed or deleted"):
        execute("DELETE FROM artifacts")
    assert scene.store.decisions.prune("Ada", "Nothing yet.") == 0
    scene.store.decisions.delete(recorded, "Ada", "why")
    assert scene.store.decisions.prune("Ada", "Asked to.") == 2  # the answer and the log; prompt and files are shared
    assert scene.store.decisions.prune("Ada", "Again.") == 0
    assert rows(execute, "artifacts", "artifact_chunks", "released_artifacts") == {
        "artifacts": 3,
        "artifact_chunks": 3,
        "released_artifacts": 0,
    }
    assert sorted(execute("SELECT artifacts, who, why FROM prunings")) == [
        (0, "Ada", "Again."),
        (0, "Ada", "Nothing yet."),
        (2, "Ada", "Asked to."),
    ]
    with pytest.raises(REFUSED, match="artifact_chunks are never changed or deleted"):
        execute("DELETE FROM artifact_chunks")
