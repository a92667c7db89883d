"""Exit status, report and expected tests must agree: the table of what follows when they do not, and what is quoted."""

from pathlib import Path

import pytest

from convex_evals.core.diagnostics import TestResult, TestStatus
from convex_evals.core.processes import Output, ProcessResult, Usage
from convex_evals.pipeline.grading.run import excerpt_of, judge
from convex_evals.pipeline.grading.types import Report

SEGFAULT = 11


def ended(exit_code: int | None = 0, signal: int | None = None, timed_out: bool = False) -> ProcessResult:
    printed = b"\n".join(b"line %d" % number for number in range(40))
    output = Output(Path("/nonexistent"), len(printed), printed, b"")
    return ProcessResult(("grader",), exit_code, signal, timed_out, Usage(1, 1, 0, 0), output, None, 0)


def report(*statuses: TestStatus, problem: str = "") -> Report:
    tests = tuple(TestResult(f"test_{number}", status, "why") for number, status in enumerate(statuses))
    return Report(tuple(test.name for test in tests), tests, problem)


TWO = ("test_0", "test_1")
CASES: list[tuple[ProcessResult, Report | None, tuple[str, ...], str | None, str]] = [
    (ended(0), report("passed", "passed"), TWO, None, ""),
    (ended(1), report("passed", "failed"), TWO, "tests-failed", "✗ test_1\n  why"),
    (ended(0), report("passed", "skipped"), TWO, "tests-failed", "✗ test_1\n  skipped, which is not a pass: why"),
    (ended(1), report("failed", "lost"), TWO, "deployment-lost", "✗ test_1\n  why"),
    (ended(1), report("broken", "lost"), TWO, "deployment-lost", "✗ test_1\n  why"),
    (ended(1), report("failed", "broken"), TWO, "grader-broken", "✗ test_1\n  why"),
    (ended(1), report("hangs", "failed"), TWO, "tests-failed", "✗ test_1\n  why"),
    (ended(1), report("crashed", "failed"), TWO, "tests-failed", "✗ test_1\n  why"),
    (ended(1), report("hangs", "passed"), TWO, "grader-hangs", "✗ test_0\n  why"),
    (ended(1), report("passed", "crashed"), TWO, "tool-crashed", "✗ test_1\n  why"),
    (ended(2), report(problem="no module"), TWO, "grader-broken", "the grader cannot be loaded\nno module"),
    (ended(5), report(), (), "grader-broken", "the grader has no tests"),
    (ended(0), None, TWO, "grader-crashed", "the grader ended without a report (exit code 0)"),
    (ended(None, SEGFAULT), None, TWO, "grader-crashed", "the grader ended without a report (killed by SIGSEGV)"),
    (ended(None, 9, True), report("passed", "passed"), TWO, "grader-hangs", "(stopped after 1 s)"),
    (ended(0), report("passed"), TWO, "grader-crashed", "missing: ['test_1'], not known: []"),
    (ended(0), report("passed", "passed", "passed"), TWO, "grader-crashed", "missing: [], not known: ['test_2']"),
    (ended(0), report("passed", "failed"), TWO, "grader-crashed", "asks for exit code 1, but"),
    (ended(1), report("passed", "passed"), TWO, "grader-crashed", "asks for exit code 0, but"),
    (ended(3), report("passed", "passed"), TWO, "grader-crashed", "ended with exit code 3"),
    (ended(None, SEGFAULT), report("passed", "passed"), TWO, "grader-crashed", "ended with killed by SIGSEGV"),
]


@pytest.mark.parametrize(("result", "given", "expected", "kind", "told"), CASES)
def test_only_full_agreement_is_a_pass(
    result: ProcessResult, given: Report | None, expected: tuple[str, ...], kind: str | None, told: str
) -> None:
    verdict = judge(result, given, expected)
    assert verdict.kind == kind
    assert told in verdict.excerpt
    assert (verdict.tests.passed, verdict.tests.total) == (given.count("passed") if given else 0, len(expected))


def test_tests_of_the_same_name_are_counted() -> None:
    twice = Report(("test_0",), (TestResult("test_0", "passed"),))
    assert judge(ended(0), twice, ("test_0", "test_0")).kind == "grader-crashed"


def test_the_last_lines_of_a_crash_are_reported() -> None:
    assert judge(ended(70), None, TWO).excerpt.splitlines()[-1] == "line 39"


def test_each_test_is_reported_with_its_place_and_message() -> None:
    test = TestResult("test_it", "failed", "expected: 1\nreceived: 2", "grader.py", 7)
    assert excerpt_of([test]) == "✗ test_it (grader.py:7)\n  expected: 1\n  received: 2"


def test_a_test_without_a_message_says_so() -> None:
    assert excerpt_of([TestResult("test_it", "failed")]) == "✗ test_it\n  no reason given"


def test_many_tests_many_lines_and_long_lines_are_cut_and_counted() -> None:
    message = "\n".join(["x" * 5000, *(f"line {number}" for number in range(30))])
    excerpt = excerpt_of([TestResult(f"test_{number}", "failed", message) for number in range(8)])
    assert excerpt.count("✗") == 5
    assert excerpt.count("… 17 more lines") == 5
    assert excerpt.endswith("and 3 more: test_5, test_6, test_7")
    assert max(map(len, excerpt.splitlines())) < 610
