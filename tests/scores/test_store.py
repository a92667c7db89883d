import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert

from convex_evals.core.ids import new_id
from convex_evals.core.verdicts import STEPS
from convex_evals.scores import Outcome, PlannedEval, RunPlan, ScoresStore
from convex_evals.scores.rows import AttemptRow, StepRow

EVALS, TRIALS = 500, 3
SECONDS = 1.0  # several times what it takes, and a fraction of what a query for every eval would


@pytest.mark.both_engines
def test_a_whole_run_is_exported_as_plain_values(scene: Any) -> None:
    run_id = scene.run("000-a/000-b", "000-a/001-c")
    begun = scene.store.begin_attempt(run_id, "000-a/001-c")
    scene.store.record_generation(begun.id, scene.generation())
    scene.store.record_step(begun.id, scene.step(b"log", name="filesystem"))
    scene.store.finish_attempt(begun.id, Outcome("failed", "filesystem", "filesystem.escape"))
    scene.store.begin_attempt(run_id, "000-a/000-b")
    scene.store.finish_run(run_id, "completed")
    exported = scene.store.export_run(run_id)
    assert [planned.eval for planned in exported.evals] == ["000-a/000-b", "000-a/001-c"]
    first, second = exported.attempts
    assert (first.attempt.status, first.generation, first.steps) == ("interrupted", None, ())
    assert second.generation is not None and second.generation.usage.cost_usd == 0.25
    assert [step.name for step in second.steps] == ["filesystem"]
    assert exported.run == scene.store.find_run(run_id)
    assert exported.attempts == scene.store.details(run_id)


def test_what_was_recorded_is_there_after_closing_and_opening(scene: Any, where: str) -> None:
    run_id = scene.run()
    scene.attempt(run_id)
    before = scene.store.export_run(run_id)
    scene.store.close()
    with ScoresStore.open(where) as again:
        assert again.export_run(run_id) == before and again.upgraded is None


async def test_asynchronous_code_records_in_threads(scene: Any) -> None:
    run_id = scene.run(trials=10)
    await asyncio.gather(*(asyncio.to_thread(scene.attempt, run_id, trial=trial) for trial in range(1, 11)))
    assert (await asyncio.to_thread(scene.store.find_run, run_id)).counts.passed == 10


@pytest.fixture
def large_run(scene: Any) -> str:
    """Recorded in bulk, because one by one is not what is measured."""
    evals = tuple(PlannedEval(f"{number // 10:03}-category/{number:03}-name") for number in range(EVALS))
    run_id = str(scene.store.create_run(RunPlan("m", "p", "default", evals, TRIALS)))
    now = datetime.now(UTC)
    places = [(new_id(), planned.eval, trial) for planned in evals for trial in range(1, TRIALS + 1)]
    attempts = [
        {"id": attempt, "run_id": run_id, "eval": eval, "trial": trial, "number": 1, "status": "passed", "notes": []}
        | {"started_at": now, "finished_at": now, "duration_ms": 1.0, "cpu_ms": 1.0}
        for attempt, eval, trial in places
    ]
    steps = [
        {"attempt_id": attempt, "name": name, "status": "passed", "duration_ms": 1.0, "cpu_ms": 1.0, "notes": []}
        | {"commands": [], "excerpt": "", "recorded_at": now}
        for attempt, _, _ in places
        for name in STEPS
    ]
    with scene.store._database.writing() as session:
        session.execute(insert(AttemptRow), attempts)
        session.execute(insert(StepRow), steps)
    return run_id


def test_a_run_of_500_evals_and_3_trials_is_listed_quickly(scene: Any, large_run: str) -> None:
    questions: dict[str, Callable[[], Any]] = {
        "runs": lambda: scene.store.runs(),
        "find_run": lambda: scene.store.find_run(large_run[:8]),
        "results": lambda: scene.store.results(large_run),
        "pending": lambda: scene.store.pending(large_run),
    }
    for name, ask in questions.items():
        # Other processes on the machine only ever add to it, so once is enough.
        assert any(_seconds(ask) < SECONDS for _ in range(20)), name


def _seconds(ask: Callable[[], Any]) -> float:
    before = time.perf_counter()
    ask()
    return time.perf_counter() - before


def test_types_cost_nothing_and_the_store_loads_when_it_is_asked_for() -> None:
    program = (
        "import sys, convex_evals.scores as scores; scores.RunPlan; early = 'sqlalchemy' in sys.modules; "
        "scores.ScoresStore; print(early, 'sqlalchemy' in sys.modules, 'alembic' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "False True False\n"


def test_the_face_has_what_it_names() -> None:
    import convex_evals.scores as scores

    assert all(getattr(scores, name) for name in scores.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        scores.nothing  # noqa: B018
