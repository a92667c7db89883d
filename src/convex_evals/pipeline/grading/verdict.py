"""The verdict on a grader's run: exit status, report and expected tests must agree."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from convex_evals.core.diagnostics import TestResult, TestStatus
from convex_evals.core.processes import ProcessResult
from convex_evals.core.steps import TestCounts
from convex_evals.pipeline.grading.types import (
    BROWSER_MISSING,
    DEPLOYMENT_LOST,
    GRADER_BROKEN,
    GRADER_CRASHED,
    GRADER_HANGS,
    TESTS_FAILED,
    TOOL_CRASHED,
    Report,
)

PASSED_CODE: Final = 0
FAILED_CODE: Final = 1
LAST_LINES: Final = 15
# Without a verdict, in this order: a lost deployment explains everything else.
_EXPLANATIONS: Final[tuple[tuple[TestStatus, str], ...]] = (("lost", DEPLOYMENT_LOST), ("broken", GRADER_BROKEN))
# Without a verdict when no test failed: one that did is right about the answer whatever became of the others.
_ACCIDENTS: Final[tuple[tuple[TestStatus, str], ...]] = (("hangs", GRADER_HANGS), ("crashed", TOOL_CRASHED))

MOST_TESTS: Final = 5  # quoted in an excerpt
MOST_LINES: Final = 14  # per test
MOST_CHARACTERS: Final = 600  # per line
_UNPRINTABLE: Final = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")


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
    place = f" ({test.place})" if test.file and test.file.endswith(".py") else ""  # a name in vitest is a way by itself
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
