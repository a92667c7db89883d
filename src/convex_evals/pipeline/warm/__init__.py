"""Programs kept warm between gradings: most of what they cost is starting them."""

from convex_evals.pipeline.warm.eslint import EslintHost, EslintJob
from convex_evals.pipeline.warm.host import GO_PROGRAMS
from convex_evals.pipeline.warm.oxlint import OXLINT, OxlintHost, OxlintJob, find_binding
from convex_evals.pipeline.warm.tsc import TscHost, TscJob

__all__ = [
    "GO_PROGRAMS",
    "OXLINT",
    "EslintHost",
    "EslintJob",
    "OxlintHost",
    "OxlintJob",
    "TscHost",
    "TscJob",
    "find_binding",
]
