"""ESLint kept warm: most of what it costs is starting it."""

from convex_evals.pipeline.eslint.host import EslintHost, Linted, LintJob

__all__ = ["EslintHost", "LintJob", "Linted"]
