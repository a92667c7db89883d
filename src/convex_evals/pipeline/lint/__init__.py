"""The step `eslint`: typescript-eslint's rules, strict about real mistakes and silent about taste."""

from convex_evals.pipeline.lint.rules import rules_for
from convex_evals.pipeline.lint.step import lint

__all__ = ["lint", "rules_for"]
