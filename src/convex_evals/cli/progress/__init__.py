"""What is seen while a run works: a live table on a terminal, lines elsewhere."""

from convex_evals.cli.progress.watching import watching

__all__ = ["watching"]
