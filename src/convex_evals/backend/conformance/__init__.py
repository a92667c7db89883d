"""Does a deployment behave like Convex? Numbered checks that run against any deployment, ours first."""

from convex_evals.backend.conformance.checklist import Check, all_checks
from convex_evals.backend.conformance.results import ItemResult, Results
from convex_evals.backend.conformance.run import run_checks
from convex_evals.backend.conformance.target import Target

__all__ = ["Check", "ItemResult", "Results", "Target", "all_checks", "run_checks"]
