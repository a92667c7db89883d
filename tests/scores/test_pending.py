from typing import Any

from convex_evals.scores import Outcome, PendingEval

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


def test_a_stopped_run_goes_on(scene: Any) -> None:
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
