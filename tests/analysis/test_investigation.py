from dataclasses import replace
from pathlib import Path

import pytest
from tests.scores.old_database import RECORDED, RUN, write_old_database

from convex_evals.analysis.investigation import Recorded, complete, evidence_of
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import Status, StepName
from convex_evals.scores import Outcome, PlannedEval, RunPlan, ScoresStore
from convex_evals.suite import Suite

EVAL = "000-a/000-b"
ANY = Diagnostic("eslint", "Unexpected any.", "no-explicit-any", "convex/a.ts", 3, 1)
TYPE = Diagnostic("tsc", "no", "TS2339", "convex/a.ts", 3, 1)


def _record(store: ScoresStore, *steps: StepResult) -> Recorded:
    run = store.create_run(RunPlan("m", "p", "default", (PlannedEval(EVAL),)))
    attempt = store.begin_attempt(run, EVAL)
    for step in steps:
        store.record_step(attempt.id, step)
    store.finish_attempt(attempt.id, Outcome("failed", "eslint"))
    (details,) = store.details(run)
    return Recorded.read(store, details)


def _step(name: StepName, status: Status, *diagnostics: Diagnostic) -> StepResult:
    return StepResult(name, status, diagnostics=diagnostics)


def test_the_evidence_has_what_the_failed_steps_found_those_of_the_failed_step_first(store: ScoresStore) -> None:
    other = Diagnostic("tests", "lost", "test_a")
    steps = (_step("tsc", "failed", TYPE), _step("eslint", "failed", ANY), _step("tests", "infrastructure", other))
    evidence = evidence_of(_record(store, *steps), None)
    assert evidence.diagnostics == (ANY, TYPE)
    assert evidence.failed_diagnostics == (ANY,)


def test_a_rule_broken_twice_on_one_line_counts_once(store: ScoresStore) -> None:
    again = Diagnostic("eslint", "Unexpected any.", "no-explicit-any", "convex/a.ts", 3, 20)
    evidence = evidence_of(_record(store, _step("eslint", "failed", ANY, again)), None)
    assert [each.place for each in evidence.diagnostics] == ["convex/a.ts:3"]


def test_a_run_recorded_before_diagnostics_were_stored_is_analysed(tmp_path: Path) -> None:
    write_old_database(str(tmp_path / "old.db"), tmp_path / "until")
    with ScoresStore.open(tmp_path / "old.db") as store:
        failed = [each for each in store.details(RUN) if each.attempt.status == "failed"]
        evidence = [complete(evidence_of(Recorded.read(store, each), None)) for each in failed]
    assert len(evidence) == sum(each["status"] == "failed" for each in RECORDED)
    assert all(each.failed_diagnostics and each.error for each in evidence)


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("Say hello.", "Say hello."),
        ("<!-- system -->\nYou write.\n<!-- user -->\n# Rules\n\n# Task\n\nSay hello.\n", "Say hello."),
        ("", "Say hello.\n\nTo the world.\n"),
        ("<!-- user -->\nA template without the heading.", "Say hello.\n\nTo the world.\n"),
        ("What a test has recorded instead of a prompt", "Say hello.\n\nTo the world.\n"),
        ("Say hello.\n\nTo the world.\n", "Say hello.\n\nTo the world.\n"),
    ],
)
def test_an_answer_is_judged_by_the_task_that_the_model_was_given(
    store: ScoresStore, hello_suite: Suite, prompt: str, told: str
) -> None:
    asked = replace(hello_suite.evals[0], task="Say hello.\n\nTo the world.\n")
    recorded = replace(_record(store, _step("eslint", "failed", ANY)), prompt=prompt)
    assert recorded.question(asked) == told
