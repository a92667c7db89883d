"""Vitest: graders of suites written elsewhere, run as they are, and tests that a model wrote, run on variants."""

from convex_evals.pipeline.grading.vitest.grader import VitestGrader
from convex_evals.pipeline.grading.vitest.written import serve_written_tests

__all__ = ["VitestGrader", "serve_written_tests"]
