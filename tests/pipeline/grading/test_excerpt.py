"""Short, and still everything that matters."""

from convex_evals.core.diagnostics import TestResult
from convex_evals.pipeline.grading.excerpt import excerpt_of


def test_each_test_is_told_with_its_place_and_message() -> None:
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
