"""Why did it fail? Evidence, classification, patterns, recommendations, a report."""

from typing import TYPE_CHECKING, Final

from convex_evals.analysis.references import run_reference, run_service
from convex_evals.core.lazy import load_on_demand

if TYPE_CHECKING:
    from convex_evals.analysis.health import SharedFailure, suite_health
    from convex_evals.analysis.procedure import Request, analyse

__all__ = ["PROBE_SECONDS", "Request", "SharedFailure", "analyse", "run_reference", "run_service", "suite_health"]

PROBE_SECONDS: Final = 12.0
"""For each failure: 19 of them are done in three minutes on two cores. Commands state it without loading a probe."""

# The procedure needs the runner and the toolchain.
__getattr__ = load_on_demand(
    __name__, {"procedure": ("Request", "analyse"), "health": ("SharedFailure", "suite_health")}
)
