"""Graders of suites written elsewhere: vitest files, run as they are."""

from convex_evals.pipeline.grading.vitest.grader import VitestGrader

__all__ = ["VitestGrader"]
