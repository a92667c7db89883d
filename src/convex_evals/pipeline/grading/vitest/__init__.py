"""Vitest: graders of suites written elsewhere, run as they are, and tests that a model wrote, run on variants."""

from convex_evals.pipeline.grading.vitest.grader import VitestGrader
from convex_evals.pipeline.grading.vitest.written import run_on_variants

__all__ = ["VitestGrader", "run_on_variants"]
