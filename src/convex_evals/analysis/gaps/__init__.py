"""GAPS.txt: what an eval's authors already know about its weaknesses, and whether a failure is one of them."""

from convex_evals.analysis.gaps.entries import Gap, read_gaps
from convex_evals.analysis.gaps.matches import LEAST, closest_gap, match_gap

__all__ = ["LEAST", "Gap", "closest_gap", "match_gap", "read_gaps"]
