"""Why did it fail? Evidence, classification, patterns, recommendations, a report."""

from typing import TYPE_CHECKING

from convex_evals.analysis.references import run_reference

if TYPE_CHECKING:
    from convex_evals.analysis.procedure import Request, analyse

__all__ = ["Request", "analyse", "run_reference"]


def __getattr__(name: str) -> object:
    # What needs the runner and the toolchain is loaded when it is asked for.
    if name in ("Request", "analyse"):
        from convex_evals.analysis import procedure

        return getattr(procedure, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
