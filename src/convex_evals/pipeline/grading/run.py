"""Runs an eval's grader and turns what it did into the result of the step `tests`."""

import json
import re
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, TestResult, failed_test
from convex_evals.core.errors import ProcessError
from convex_evals.core.files import write_file
from convex_evals.core.processes import ProcessResult
from convex_evals.core.steps import TestCounts
from convex_evals.pipeline.grading.network import GraderNetwork
from convex_evals.pipeline.grading.python.grader import PythonGrader
from convex_evals.pipeline.grading.runner import GraderRequest, GraderRunner
from convex_evals.pipeline.grading.types import (
    AS_WRITTEN,
    GRADER_BROKEN,
    GRADER_CRASHED,
    TESTS_FAILED,
    GivenProject,
    GradedDeployment,
    GraderResult,
    OrderOfTests,
    Report,
)
from convex_evals.pipeline.grading.verdict import Verdict, judge, reason
from convex_evals.pipeline.grading.vitest import VitestGrader
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import GradingOptions
from convex_evals.pipeline.workspace import Workspace
from convex_evals.suite import Eval, GraderKind

_ASSERTION: Final = re.compile(r"^(?:AssertionError|Failed): ")
RUNNERS: Final[dict[GraderKind, Callable[[GraderRequest, Tools], GraderRunner]]] = {
    GraderKind.PYTEST: PythonGrader,
    GraderKind.VITEST: VitestGrader,
}


@dataclass(frozen=True, slots=True)
class Collection:
    """The names of all tests; or, with a run that did not come to name them, what it did instead."""

    names: tuple[str, ...]
    result: ProcessResult | None = None
    report: Report | None = None


async def expected_tests(cache: Path, fingerprint: str, collect: Callable[[], Awaitable[Collection]]) -> Collection:
    """From the cache, or collected now. Only a collection that found tests is kept."""
    file = cache / "graders" / f"{fingerprint}.json"
    if file.exists():
        return Collection(tuple(json.loads(file.read_bytes())))
    found = await collect()
    if found.names:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, json.dumps(found.names))
    return found


async def run_grader(
    eval: Eval,
    *,
    project: GradedDeployment | None,
    answer: GradedDeployment | None,
    files: Path,
    workspace: Workspace,
    options: GradingOptions,
    tools: Tools,
    network: GraderNetwork | None = None,
    given: GivenProject | None = None,
    order: OrderOfTests | None = None,
) -> GraderResult:
    """The step `tests`. `files` is the model's project folder; a static eval has no deployments. `network` is
    the policy of the deployments, told of what the grader listens on; `given` is for evals with given files."""
    step = RunningStep("tests", workspace, tools)
    if eval.grader is None:
        return _conclude(step, Verdict(GRADER_BROKEN, "the eval has no grader", TestCounts(0, 0)), None)
    with tempfile.TemporaryDirectory(prefix="grader-") as private:
        request = GraderRequest(
            eval,
            eval.grader,
            project,
            answer,
            files,
            Path(private),
            options,
            network or GraderNetwork(),
            given,
            order or AS_WRITTEN,
        )
        runner = RUNNERS[eval.grader.kind](request, tools)
        return _conclude(step, await _run(step, runner, tools, eval), eval.grader.kind)


async def _run(step: RunningStep, runner: GraderRunner, tools: Tools, eval: Eval) -> Verdict:
    collected = await _collect(step, runner, tools, eval)
    if collected.result is not None and not collected.names:
        return judge(collected.result, collected.report, ())
    try:
        run = await runner.run(collected.names)
    except ProcessError as error:
        return Verdict(GRADER_CRASHED, str(error), TestCounts(0, len(collected.names)))
    for result in (*run.others, run.result):
        step.record(result)
    return judge(run.result, run.report, collected.names)


async def _collect(step: RunningStep, runner: GraderRunner, tools: Tools, eval: Eval) -> Collection:
    async def collect() -> Collection:
        run = await runner.collect()
        step.record(run.result)
        return Collection(run.report.collected if run.report else (), run.result, run.report)

    return await expected_tests(tools.cache, eval.fingerprints.grader or "", collect)


def _conclude(step: RunningStep, verdict: Verdict, kind: GraderKind | None) -> GraderResult:
    if verdict.unseen:
        step.note(
            f"the app was built but not looked at: of {verdict.tests.total + verdict.unseen} tests, {verdict.unseen} "
            f"did not run and the other {verdict.tests.total}, which read its source, decide; {verdict.lack}"
        )
    if verdict.kind is None:
        return GraderResult(step.passed(verdict.results), verdict.tests)
    diagnostics = [_diagnostic(test, kind) for test in verdict.decisive]
    result = step.failed(verdict.kind, verdict.excerpt, diagnostics, verdict.results)
    broken = verdict.excerpt if verdict.kind == GRADER_BROKEN else None
    decisive = verdict.decisive if verdict.kind == TESTS_FAILED else ()
    # One that is skipped does not pass either, but it may be skipped only because another has failed.
    failed = [test for test in decisive if test.status == "failed"] or decisive
    return GraderResult(result, verdict.tests, broken, tuple(test.name for test in failed))


def _diagnostic(test: TestResult, kind: GraderKind | None) -> Diagnostic:
    """What a grader's framework calls the failure of an assertion is not part of its message."""
    return failed_test(str(kind or ""), replace(test, message=_ASSERTION.sub("", reason(test))))
