"""Runs an eval's grader and turns what it did into the result of the step `tests`.

For a verdict, exit status, report and expected tests must agree.
"""

import json
import re
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from convex_evals.core.diagnostics import Diagnostic, TestResult, TestStatus, failed_test
from convex_evals.core.errors import ProcessError
from convex_evals.core.files import write_file
from convex_evals.core.processes import ProcessResult
from convex_evals.core.steps import TestCounts
from convex_evals.pipeline.grading.network import GraderNetwork
from convex_evals.pipeline.grading.python.grader import PythonGrader
from convex_evals.pipeline.grading.runner import GraderRequest, GraderRunner
from convex_evals.pipeline.grading.types import (
    AS_WRITTEN,
    BROWSER_MISSING,
    DEPLOYMENT_LOST,
    GRADER_BROKEN,
    GRADER_CRASHED,
    GRADER_HANGS,
    TESTS_FAILED,
    TOOL_CRASHED,
    GivenProject,
    GradedDeployment,
    GraderResult,
    OrderOfTests,
    Report,
)
from convex_evals.pipeline.grading.vitest import VitestGrader
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import GradingOptions
from convex_evals.pipeline.workspace import Workspace
from convex_evals.suite import Eval, GraderKind

PASSED_CODE: Final = 0
FAILED_CODE: Final = 1
LAST_LINES: Final = 15
# Without a verdict, in this order: a lost deployment explains everything else.
_EXPLANATIONS: Final[tuple[tuple[TestStatus, str], ...]] = (("lost", DEPLOYMENT_LOST), ("broken", GRADER_BROKEN))
# Without a verdict unless a test failed: a failure is right about the answer, whatever became of the other tests.
_ACCIDENTS: Final[tuple[tuple[TestStatus, str], ...]] = (("hangs", GRADER_HANGS), ("crashed", TOOL_CRASHED))

MOST_TESTS: Final = 5  # quoted in an excerpt
MOST_LINES: Final = 14  # per test
MOST_CHARACTERS: Final = 600  # per line
_UNPRINTABLE: Final = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
_ASSERTION: Final = re.compile(r"^(?:AssertionError|Failed): ")
RUNNERS: Final[dict[GraderKind, Callable[[GraderRequest, Tools], GraderRunner]]] = {
    GraderKind.PYTEST: PythonGrader,
    GraderKind.VITEST: VitestGrader,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind` is the kind of failure; None means that every expected test passed. `decisive` are the tests that it is
    about, `results` are all that were reported."""

    kind: str | None
    excerpt: str
    tests: TestCounts
    decisive: tuple[TestResult, ...] = ()
    unseen: int = 0  # tests that need a browser where there is none
    lack: str = ""  # why there is none
    results: tuple[TestResult, ...] = ()


def judge(result: ProcessResult, report: Report | None, expected: tuple[str, ...]) -> Verdict:
    """Passed only if the process says so, the report says so for every test, and none of the expected is missing."""
    unseen = report.count("unseen") if report else 0
    counts = TestCounts(report.count("passed") if report else 0, len(expected) - unseen)
    results = report.tests if report else ()
    trouble = _trouble(result, report, expected)
    if trouble is not None:
        return Verdict(trouble.kind, trouble.excerpt, counts, trouble.tests, results=results)
    assert report is not None, "a run without a report is trouble"
    failures = report.with_status("failed", "skipped")
    kind, excerpt = (TESTS_FAILED if failures else None), excerpt_of(failures)
    return Verdict(kind, excerpt, counts, failures, unseen, _lack(report), results)


class _Trouble(NamedTuple):
    """Why there is no verdict, and the tests that say so."""

    kind: str
    excerpt: str
    tests: tuple[TestResult, ...] = ()


def _trouble(result: ProcessResult, report: Report | None, expected: tuple[str, ...]) -> _Trouble | None:
    if result.timed_out:
        return _Trouble(GRADER_HANGS, f"the grader did not end by itself ({result.ending})\n{_last_lines(result)}")
    if report is None:
        return _Trouble(GRADER_CRASHED, f"the grader ended without a report ({result.ending})\n{_last_lines(result)}")
    if report.problem:
        return _Trouble(GRADER_BROKEN, f"the grader cannot be loaded\n{report.problem}")
    if not expected:
        return _Trouble(GRADER_BROKEN, "the grader has no tests")
    accidents = () if report.count("failed") else _ACCIDENTS
    for status, kind in (*_EXPLANATIONS, *accidents):
        if affected := report.with_status(status):
            return _Trouble(kind, excerpt_of(affected), affected)
    if report.count("unseen") == len(expected):
        return _Trouble(BROWSER_MISSING, f"every test of the grader looks at a page, and {_lack(report)}")
    return _contradiction(result, report, expected)


def _lack(report: Report) -> str:
    return next((test.message for test in report.with_status("unseen")), "")


def _contradiction(result: ProcessResult, report: Report, expected: tuple[str, ...]) -> _Trouble | None:
    reported = sorted(test.name for test in report.tests)
    if reported != sorted(expected):
        missing = sorted(set(expected) - set(reported))
        surplus = sorted(set(reported) - set(expected))
        told = f"the report has other tests than the grader (missing: {missing}, not known: {surplus})"
        return _Trouble(GRADER_CRASHED, told)
    should_be = FAILED_CODE if report.count("failed") else PASSED_CODE
    if result.exit_code != should_be:
        told = f"the report asks for exit code {should_be}, but the grader ended with {result.ending}"
        return _Trouble(GRADER_CRASHED, told)
    return None


def _last_lines(result: ProcessResult) -> str:
    return "\n".join(result.output.text.rstrip().splitlines()[-LAST_LINES:])


def excerpt_of(tests: Sequence[TestResult]) -> str:
    """The first few tests, each with its message; the log has all of them."""
    parts = [_test(test) for test in tests[:MOST_TESTS]]
    if len(tests) > MOST_TESTS:
        others = ", ".join(test.name for test in tests[MOST_TESTS:])
        parts.append(_shortened(f"and {len(tests) - MOST_TESTS} more: {others}"))
    return "\n".join(parts)


def _test(test: TestResult) -> str:
    place = (
        f" ({test.place})" if test.file and test.file.endswith(".py") else ""
    )  # the name of a vitest test says where it is
    lines = reason(test).splitlines() or ["no reason given"]
    shown = [f"  {_shortened(line)}".rstrip() for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"  … {len(lines) - MOST_LINES} more lines")
    return "\n".join([f"✗ {test.name}{place}", *shown])


def reason(test: TestResult) -> str:
    return f"skipped, which is not a pass: {test.message}" if test.status == "skipped" else test.message


def _shortened(line: str) -> str:
    """Control characters and halves of surrogate pairs as escapes: a terminal, a database or a page shows this."""
    cut = line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}…"
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), cut)


@dataclass(frozen=True, slots=True)
class Collection:
    """The names of all tests; or, if the run ended before it listed them, how it ended and what it reported."""

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
