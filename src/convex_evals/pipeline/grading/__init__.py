"""The step `tests`: an eval's grader runs in a process of its own, and its verdict is checked three ways.

What graders themselves import is in `kit`, which has a face of its own.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from convex_evals.pipeline.grading.network import GraderNetwork
    from convex_evals.pipeline.grading.python.host import GraderHost
    from convex_evals.pipeline.grading.run import run_grader
    from convex_evals.pipeline.grading.types import GradedDeployment, GraderResult

__all__ = ["GradedDeployment", "GraderHost", "GraderNetwork", "GraderResult", "run_grader"]

_HOMES: Final = {
    "GradedDeployment": "types",
    "GraderHost": "python.host",
    "GraderNetwork": "network",
    "GraderResult": "types",
    "run_grader": "run",
}


def __getattr__(name: str) -> object:
    # A name loads its own part only: the processes of graders, and the dialer without site-packages, begin here too.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
