"""Rows that every execution reads, so that changing them re-runs whatever depends on them."""

from dataclasses import dataclass

from convex_evals.backend.canonical_urls import CanonicalUrls
from convex_evals.backend.database import Transaction
from convex_evals.backend.environment import read_variables

ROOT = ""
PAUSED = "paused"
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class DeploymentState:
    """`variables` are those that users set for the app; `urls` are where the deployment says it can be reached."""

    variables: dict[str, str]
    urls: CanonicalUrls
    paused: bool


def read_state(transaction: Transaction, urls: CanonicalUrls) -> DeploymentState:
    """Also depends on the row that every push rewrites. `urls` are the deployment's own."""
    transaction.depend_on_push()
    return DeploymentState(
        variables=read_variables(transaction),
        urls=urls.overridden(transaction),
        paused=is_paused(transaction),
    )


def is_paused(transaction: Transaction) -> bool:
    return any(row.value.get("user") == PAUSED for row in transaction.system.scan(ROOT, "_backend_state"))


def write_paused(transaction: Transaction, paused: bool) -> None:
    system = transaction.system
    for row in system.scan(ROOT, "_backend_state"):
        system.delete(ROOT, "_backend_state", row.id)
    user = PAUSED if paused else RUNNING
    system.insert(ROOT, "_backend_state", {"system": "none", "usage_limit": "none", "user": user})
