from typing import Any

import pytest

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.scores import FailuresAlike, Outcome

FIRST, SECOND = "000-a/000-b", "000-a/001-c"


def fail(scene: Any, run_id: str, *fingerprints: str, eval: str = FIRST, step: str = "tests") -> str:
    begun = scene.store.begin_attempt(run_id, eval)
    found = tuple(Diagnostic("tests", "no", fingerprint=each) for each in fingerprints)
    scene.store.record_step(begun.id, scene.step(name="tests", status="failed", diagnostics=found))
    scene.store.finish_attempt(begun.id, Outcome("failed", step))
    return str(begun.id)


def test_other_runs_and_models_that_fail_alike_are_counted_once_each(scene: Any) -> None:
    own = fail(scene, scene.run(FIRST, SECOND), "runtime:x", "runtime:y")
    fail(scene, scene.run(FIRST, SECOND), "runtime:x", "runtime:y")  # the same model, in another run
    fail(scene, scene.run(FIRST, SECOND, model="m2"), "runtime:y", eval=SECOND)
    fail(scene, scene.run(FIRST, SECOND, model="m3"), "runtime:z")
    assert scene.store.failures_alike(own) == FailuresAlike(runs=2, models=1)


def test_the_run_itself_and_those_that_passed_do_not_count(scene: Any) -> None:
    run = scene.run(FIRST, SECOND)
    own = fail(scene, run, "runtime:x")
    fail(scene, run, "runtime:x", eval=SECOND)
    other = scene.run(FIRST, model="m2")
    begun = scene.store.begin_attempt(other, FIRST)
    found = (Diagnostic("tests", "no", fingerprint="runtime:x"),)
    scene.store.record_step(begun.id, scene.step(name="tests", status="infrastructure", diagnostics=found))
    scene.store.finish_attempt(begun.id, Outcome("infrastructure"))
    assert scene.store.failures_alike(own) == FailuresAlike(0, 0)


@pytest.mark.parametrize(("eval", "runs"), [(FIRST, 1), (SECOND, 0)])
def test_the_name_of_a_test_counts_within_its_eval_only(scene: Any, eval: str, runs: int) -> None:
    own = fail(scene, scene.run(FIRST), "test:test_lists")
    fail(scene, scene.run(FIRST, SECOND, model="m2"), "test:test_lists", eval=eval)
    assert scene.store.failures_alike(own).runs == runs


def test_an_attempt_that_did_not_fail_is_like_no_other(scene: Any) -> None:
    assert scene.store.failures_alike(scene.attempt(scene.run()).id) == FailuresAlike(0, 0)


def test_the_search_uses_the_index_of_fingerprints(scene: Any, execute: Any, server: Any) -> None:
    names = execute(
        "SELECT name FROM sqlite_master WHERE type = 'index'"
        if server.name == "sqlite"
        else "SELECT indexname FROM pg_indexes"
    )
    assert ("ix_diagnostics_fingerprint",) in names
