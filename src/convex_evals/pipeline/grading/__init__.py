"""The step `tests`: an eval's grader runs in a process of its own, and its verdict is checked three ways.

What graders themselves import is in `kit`, which has a face of its own.
"""

from typing import TYPE_CHECKING

from convex_evals.core.lazy import load_on_demand

if TYPE_CHECKING:
    from convex_evals.pipeline.grading.network import GraderNetwork
    from convex_evals.pipeline.grading.python.grader import deploys_the_given_project
    from convex_evals.pipeline.grading.python.host import GraderHost
    from convex_evals.pipeline.grading.run import run_grader
    from convex_evals.pipeline.grading.types import GivenProject, GradedDeployment, GraderResult, OrderOfTests, Pushes

__all__ = [
    "GivenProject",
    "GradedDeployment",
    "GraderHost",
    "GraderNetwork",
    "GraderResult",
    "OrderOfTests",
    "Pushes",
    "deploys_the_given_project",
    "run_grader",
]

# The processes of graders, and the dialer without site-packages, begin here too: they must not load the rest.
__getattr__ = load_on_demand(
    __name__,
    {
        "network": ("GraderNetwork",),
        "python.grader": ("deploys_the_given_project",),
        "python.host": ("GraderHost",),
        "run": ("run_grader",),
        "types": ("GivenProject", "GradedDeployment", "GraderResult", "Pushes", "OrderOfTests"),
    },
)
