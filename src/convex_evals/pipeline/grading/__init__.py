"""The step `tests`: an eval's grader runs in a process of its own, and its verdict is checked three ways.

`run_grader` is in `run`; what graders themselves import is in `kit`.
"""

from convex_evals.pipeline.grading.types import GradedDeployment, GraderResult

__all__ = ["GradedDeployment", "GraderResult"]
