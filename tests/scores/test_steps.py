from typing import Any

import pytest

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.steps import Command
from convex_evals.core.verdicts import STEPS
from convex_evals.scores import FailuresAlike, Outcome

EVAL = "000-a/000-b"
LOG = b"\x1b[31merror\x1b[0m TS2322\r\n\xff\xfe\0" * 100


def test_a_step_comes_back_with_its_commands_and_complete_log(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    step = scene.step(
        LOG,
        name="tsc",
        status="failed",
        duration_ms=1200.5,
        cpu_ms=1100.25,
        excerpt="a.ts(1,1): error\0\ud800 ü",
        failure="tsc.errors",
        notes=("added a tsconfig\0",),
    )
    scene.store.record_step(begun.id, step)
    details = scene.store.details(run_id)[0]
    (record,) = details.steps
    assert (details.attempt.id, record.name, record.status, record.failure) == (begun.id, "tsc", "failed", "tsc.errors")
    assert (record.duration_ms, record.cpu_ms) == (1200.5, 1100.25)
    assert record.commands == (Command(("tsc", "--noEmit"), "exit code 0", 812.5, 640.25),)
    assert record.excerpt == "a.ts(1,1): error␀? ü"
    assert record.notes == ("added a tsconfig\0",)
    assert scene.store.read_bytes(details.logs["tsc"]) == LOG
    assert scene.store.read_text(details.logs["tsc"]) == LOG.decode(errors="replace")


def test_a_step_without_a_log_has_none(scene: Any) -> None:
    run_id = scene.run()
    scene.store.record_step(scene.store.begin_attempt(run_id, EVAL).id, scene.step(status="skipped", commands=()))
    details = scene.store.details(run_id)[0]
    (record,) = details.steps
    assert (record.log, record.commands, details.logs) == (None, (), {})


def test_steps_come_in_the_order_of_the_pipeline_whatever_ended_first(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    for name in sorted(STEPS, reverse=True):
        scene.store.record_step(begun.id, scene.step(name.encode(), name=name))
    assert tuple(step.name for step in scene.store.details(run_id, EVAL)[0].steps) == STEPS


def test_a_step_is_recorded_once(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_step(begun.id, scene.step(b"first"))
    before = scene.store.export_run(run_id)
    with pytest.raises(ValueError, match=r"step tsc of attempt .* is recorded already"):
        scene.store.record_step(begun.id, scene.step(b"second", status="failed"))
    assert scene.store.export_run(run_id) == before


def test_a_log_that_cannot_be_read_records_nothing(scene: Any, execute: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    step = scene.step(b"soon gone")
    step.log.unlink()
    with pytest.raises(FileNotFoundError):
        scene.store.record_step(begun.id, step)
    assert execute("SELECT count(*) FROM steps") == [(0,)]


@pytest.mark.both_engines
def test_what_a_step_found_comes_back_as_it_was(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    complete = Diagnostic(
        "tests", "no\nmore", "test_b", "grader.py", 3, 7, "1", "2", "assert x", "pytest", "E1", "test:b"
    )
    step = scene.step(
        name="tests",
        status="failed",
        diagnostics=(complete, Diagnostic("tests", "", fingerprint="test:c")),
        test_results=(
            TestResult("test_a", "passed", duration_ms=1.5),
            TestResult("test_b", "failed", "no", "grader.py", 3, "1", "2", "assert x", 2.5),
        ),
    )
    scene.store.record_step(begun.id, step)
    scene.store.record_step(begun.id, scene.step(name="tsc", diagnostics=(Diagnostic("tsc", "no", fingerprint="x"),)))
    types, tests = scene.store.details(run_id, EVAL)[0].steps
    assert (tests.diagnostics, tests.test_results) == (step.diagnostics, step.test_results)
    assert (len(types.diagnostics), types.test_results) == (1, ())


@pytest.mark.both_engines
def test_texts_that_no_database_takes_are_shown(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_step(begun.id, scene.step(diagnostics=(Diagnostic("tsc", "a\0\ud800", "n\0"),)))
    (found,) = scene.store.details(run_id)[0].steps[0].diagnostics
    assert (found.message, found.name) == ("a␀?", "n␀")


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


@pytest.mark.both_engines
def test_the_search_uses_the_index_of_fingerprints(scene: Any, execute: Any, server: Any) -> None:
    names = execute(
        "SELECT name FROM sqlite_master WHERE type = 'index'"
        if server.name == "sqlite"
        else "SELECT indexname FROM pg_indexes"
    )
    assert ("ix_diagnostics_fingerprint",) in names
