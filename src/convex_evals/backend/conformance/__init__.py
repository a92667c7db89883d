"""Numbered checks of whether a deployment behaves like Convex. They run against any deployment."""

from convex_evals.backend.conformance.checklist import Check, ItemResult, Results, all_checks, run_checks
from convex_evals.backend.conformance.client import FunctionClient, SyncClient
from convex_evals.backend.conformance.target import Deployments, EmbeddedDeployments, RemoteDeployment, Target

__all__ = [
    "Check",
    "Deployments",
    "EmbeddedDeployments",
    "FunctionClient",
    "ItemResult",
    "RemoteDeployment",
    "Results",
    "SyncClient",
    "Target",
    "all_checks",
    "run_checks",
]
