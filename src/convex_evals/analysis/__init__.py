"""Why did it fail? Evidence, classification, patterns, recommendations, a report."""

from typing import TYPE_CHECKING

from convex_evals.analysis.references import run_reference
from convex_evals.core.lazy import load_on_demand

if TYPE_CHECKING:
    from convex_evals.analysis.procedure import Request, analyse

__all__ = ["Request", "analyse", "run_reference"]

# The procedure needs the runner and the toolchain.
__getattr__ = load_on_demand(__name__, {"procedure": ("Request", "analyse")})
