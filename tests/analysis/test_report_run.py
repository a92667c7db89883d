"""The run of the report that the product grew from, built again: 66 evals, 47 passed, 19 failed."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from convex_evals.analysis import Request, analyse
from convex_evals.analysis.classification import RulesEngine
from convex_evals.analysis.report import Report, report_markdown
from convex_evals.analysis.scoring import LabelledCase, read_cases
from convex_evals.analysis.scoring.cases import read_error
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import STEPS, Status, StepName
from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner import Request as Asked
from convex_evals.runner import plan_run
from convex_evals.scores import Generation, Outcome, RunPlan, ScoresStore
from convex_evals.suite import Suite, load_suite

CASES = {case.id: case for case in read_cases(Path(__file__).parent / "labelled" / "report.json")}
EVALS = 66


@dataclass(frozen=True)
class Silent:
    """The model of that run; its answers are recorded, so nobody asks it."""

    name: str = "openai/gpt-5.2-codex"
    provider: str = "openai"

    def answers(self, asked: object, trial: int) -> bool:
        return True

    async def generate(self, asked: object, trial: int) -> Generation:
        raise AssertionError("nobody asks")


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    others = [f"007-passed/{number:03}-passed" for number in range(EVALS - len(CASES))]
    for name in (*CASES, *others):
        folder = tmp_path / "evals" / name
        (folder / "answer" / "convex").mkdir(parents=True)
        (folder / "TASK.txt").write_text("Write a Convex backend.\n")
        case = CASES.get(name)
        (folder / "answer/convex/index.ts").write_text(case.expected_snippet if case else "export {};\n")
        if case and case.gaps:
            (folder / "GAPS.txt").write_text(case.gaps)
    return load_suite(tmp_path / "evals")


@pytest.fixture
def run_id(store: ScoresStore, suite: Suite, tmp_path: Path) -> str:
    plan = plan_run(Silent(), Asked(suite, suite.evals, GradingOptions()))
    assert isinstance(plan.run, RunPlan)
    run = store.create_run(plan.run)
    for asked in suite.evals:
        attempt = store.begin_attempt(run, asked.id).id
        case = CASES.get(asked.id)
        code = case.model_snippet if case else "export {};\n"
        store.record_generation(attempt, Generation("Write.", code, {"convex/index.ts": code}))
        for step in _steps(case, tmp_path):
            store.record_step(attempt, step)
        store.finish_attempt(attempt, _outcome(case))
    store.finish_run(run, "completed")
    return run


def _steps(case: LabelledCase | None, folder: Path) -> Iterator[StepResult]:
    log = folder / "step.log"
    log.write_text("")
    for name in STEPS:
        failed = case is not None and name == case.failed_step
        excerpt = case.error if case is not None and failed else ""
        status: Status = "failed" if failed else "passed"
        yield StepResult(name, status, 1.0, 1.0, (), excerpt, log, diagnostics=read_error(name, excerpt))
        if failed and name in ("filesystem", "install", "deploy"):
            return


def _outcome(case: LabelledCase | None) -> Outcome:
    step: StepName | None = case.failed_step if case else None
    return Outcome("failed" if case else "passed", step)


@pytest.fixture
async def report(store: ScoresStore, run_id: str, suite: Suite, settings: Settings, tmp_path: Path) -> Report:
    request = Request(
        store.find_run(run_id), RulesEngine(), tmp_path / "reports", date(2026, 2, 11), evals=tmp_path / "evals"
    )
    return await analyse(store, settings, request, lambda _: None)


def test_its_figures_are_those_of_the_report_and_17_of_its_19_classes_are_found_again(report: Report) -> None:
    assert (report.run.passed, report.run.verdicts, len(report.failures)) == (47, EVALS, 19)
    assert Counter(failure.failed_step for failure in report.failures) == {"deploy": 12, "tests": 5, "eslint": 2}
    markdown = report_markdown(report)
    assert "`47/66` (71.2%" in markdown
    assert "| deploy | 12 |" in markdown
    wrong = {
        failure.eval: (failure.failure_class, CASES[failure.eval].failure_class, failure.classification.summary)
        for failure in report.failures
        if failure.failure_class != CASES[failure.eval].failure_class
    }
    assert len(wrong) <= 2, wrong
