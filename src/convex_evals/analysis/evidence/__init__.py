"""Everything a classifier may look at: gathered before anyone classifies, and plain values throughout."""

from convex_evals.analysis.evidence.action import Action
from convex_evals.analysis.evidence.cause import Cause, Found, Hunk
from convex_evals.analysis.evidence.counterfactuals import Counterfactuals, Demand, OtherModel, Repeats
from convex_evals.analysis.evidence.difference import Aspect, Difference, UnknownSymbol
from convex_evals.analysis.evidence.evidence import Evidence
from convex_evals.analysis.evidence.gap import GapMatch
from convex_evals.analysis.evidence.prior import PriorFinding

__all__ = [
    "Action",
    "Aspect",
    "Cause",
    "Counterfactuals",
    "Demand",
    "Difference",
    "Evidence",
    "Found",
    "GapMatch",
    "Hunk",
    "OtherModel",
    "PriorFinding",
    "Repeats",
    "UnknownSymbol",
]
