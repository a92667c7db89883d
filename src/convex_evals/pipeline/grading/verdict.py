"""The verdict on a grader's run: exit status, report and expected tests must agree."""

from dataclasses import dataclass
from typing import Final

from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.grading.excerpt import excerpt_of
from convex_evals.pipeline.grading.report import Outcome, Report
from convex_evals.pipeline.grading.types import (
    BROWSER_MISSING,
    DEPLOYMENT_LOST,
    GRADER_BROKEN,
    GRADER_CRASHED,
    GRADER_HANGS,
    TESTS_FAILED,
    TOOL_CRASHED,
)
from convex_evals.pipeline.types import TestCounts

PASSED_CODE: Final = 0
FAILED_CODE: Final = 1
LAST_LINES: Final = 15
# Without a verdict, in this order: a lost deployment explains everything else.
_EXPLANATIONS: Final[tuple[tuple[Outcome, str], ...]] = (("lost", DEPLOYMENT_LOST), ("broken", GRADER_BROKEN))
# Without a verdict when no test failed: one that did is right about the answer whatever became of the others.
_ACCIDENTS: Final[tuple[tuple[Outcome, str], ...]] = (("hangs", GRADER_HANGS), ("crashed", TOOL_CRASHED))


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind` is the kind of failure; None means that every expected test passed. `failed` names those that did not."""

    kind: str | None
    excerpt: str
    tests: TestCounts
    failed: tuple[str, ...] = ()
    unseen: int = 0  # tests that need a browser where there is none
    lack: str = ""  # why there is none


def judge(result: ProcessResult, report: Report | None, expected: tuple[str, ...]) -> Verdict:
    """Passed only if the process says so, the report says so for every test, and none of the expected is missing."""
    unseen = report.count("unseen") if report else 0
    counts = TestCounts(report.count("passed") if report else 0, len(expected) - unseen)
    trouble = _trouble(result, report, expected)
    if trouble is not None:
        return Verdict(trouble[0], trouble[1], counts)
    assert report is not None, "a run without a report is trouble"
    failures = report.with_outcome("failed", "skipped")
    names = tuple(test.name for test in failures)
    return Verdict(TESTS_FAILED if failures else None, excerpt_of(failures), counts, names, unseen, _lack(report))


def _trouble(result: ProcessResult, report: Report | None, expected: tuple[str, ...]) -> tuple[str, str] | None:
    """Why there is no verdict: the kind, and what there is to say about it."""
    if result.timed_out:
        return GRADER_HANGS, f"the grader did not end by itself ({result.ending})\n{_last_lines(result)}"
    if report is None:
        return GRADER_CRASHED, f"the grader ended without a report ({result.ending})\n{_last_lines(result)}"
    if report.problem:
        return GRADER_BROKEN, f"the grader cannot be loaded\n{report.problem}"
    if not expected:
        return GRADER_BROKEN, "the grader has no tests"
    accidents = () if report.count("failed") else _ACCIDENTS
    for outcome, kind in (*_EXPLANATIONS, *accidents):
        if affected := report.with_outcome(outcome):
            return kind, excerpt_of(affected)
    if report.count("unseen") == len(expected):
        return BROWSER_MISSING, f"every test of the grader looks at a page, and {_lack(report)}"
    return _contradiction(result, report, expected)


def _lack(report: Report) -> str:
    return next((test.message for test in report.with_outcome("unseen")), "")


def _contradiction(result: ProcessResult, report: Report, expected: tuple[str, ...]) -> tuple[str, str] | None:
    reported = sorted(test.name for test in report.tests)
    if reported != sorted(expected):
        missing = sorted(set(expected) - set(reported))
        surplus = sorted(set(reported) - set(expected))
        return GRADER_CRASHED, f"the report has other tests than the grader (missing: {missing}, not known: {surplus})"
    should_be = FAILED_CODE if report.count("failed") else PASSED_CODE
    if result.exit_code != should_be:
        return GRADER_CRASHED, f"the report asks for exit code {should_be}, but the grader ended with {result.ending}"
    return None


def _last_lines(result: ProcessResult) -> str:
    return "\n".join(result.output.text.rstrip().splitlines()[-LAST_LINES:])
