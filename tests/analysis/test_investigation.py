from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.scores.old_database import RECORDED, RUN, write_old_database

from convex_evals.analysis.evidence import Evidence, Parity
from convex_evals.analysis.investigation import Recorded, complete, evidence_of, examine_parity, with_configuration
from convex_evals.analysis.isolation import Bound, BoundReached, open_probes
from convex_evals.analysis.isolation import Outcome as ProbeOutcome
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import Status, StepName
from convex_evals.pipeline import GradingOptions
from convex_evals.scores import Outcome, PlannedEval, RunPlan, ScoresStore
from convex_evals.suite import Suite, read_answer

EVAL = "000-a/000-b"
ANY = Diagnostic("eslint", "Unexpected any.", "no-explicit-any", "convex/a.ts", 3, 1)
TYPE = Diagnostic("tsc", "no", "TS2339", "convex/a.ts", 3, 1)
CODE, OTHER = {"convex/a.ts": "model"}, {"convex/a.ts": "reference"}
BARE, FULL = {"package.json": "{}"}, {"package.json": '{"devDependencies": {}}'}


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


def failing(step: StepName = "tsc") -> Evidence:
    return Evidence(failed_step=step, files={**CODE, **BARE}, answer={**OTHER, **FULL})


def test_only_configuration_is_swapped() -> None:
    files = {"convex/a.ts": "model", "vite.config.ts": "mine", "package.json": "{}", "extra.json": "{}"}
    reference = {"convex/a.ts": "reference", "vite.config.ts": "theirs", "package.json": "full", "tsconfig.json": "{}"}
    assert with_configuration(files, reference) == {
        "convex/a.ts": "model",
        "vite.config.ts": "theirs",
        "package.json": "full",
        "tsconfig.json": "{}",
    }


async def test_a_step_that_only_the_configuration_breaks_is_recognised() -> None:
    async def try_files(files: Mapping[str, str]) -> ProbeOutcome:
        return ProbeOutcome(passed=files["package.json"] == FULL["package.json"])

    assert await examine_parity(failing(), try_files) == Parity((), configuration_cures=True)


async def test_a_reference_that_fails_says_with_what() -> None:
    async def try_files(files: Mapping[str, str]) -> ProbeOutcome:
        return ProbeOutcome(passed=False, complaints=("type:TS1",))

    assert await examine_parity(failing(), try_files) == Parity(("type:TS1",))


async def test_what_is_not_tried_is_not_known() -> None:
    async def try_files(files: Mapping[str, str]) -> ProbeOutcome:
        raise BoundReached

    assert await examine_parity(failing(), try_files) is None
    assert await examine_parity(Evidence(failed_step="tsc"), try_files) is None


async def test_the_reference_is_really_graded_and_the_outcome_is_kept(
    settings: Settings, hello_suite: Suite, tmp_path: Path
) -> None:
    asked = hello_suite.evals[0]
    evidence = Evidence(failed_step="tests", files={"hello.txt": "no"}, answer=read_answer(asked, ("**/*",)))
    async with open_probes(settings, tmp_path / "probes", f"of {tmp_path}", 1) as probes:
        for seconds in (60, 0):
            try_files = partial(probes.try_files, asked, "tests", GradingOptions(), Bound(seconds))
            assert await examine_parity(evidence, try_files) == Parity(())
        wrong = await probes.try_files(asked, "tests", GradingOptions(), Bound(60), {"hello.txt": "no"})
        assert wrong is not None
        assert not wrong.passed
        assert wrong.complaints
