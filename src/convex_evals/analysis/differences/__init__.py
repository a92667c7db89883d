"""How an answer differs from the reference answer."""

from convex_evals.analysis.differences.compare import compare_answers

__all__ = ["compare_answers"]
