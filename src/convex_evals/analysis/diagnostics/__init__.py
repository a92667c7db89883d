"""What the tools said, read from their complete output."""

from convex_evals.analysis.diagnostics.reading import read_diagnostics

__all__ = ["read_diagnostics"]
