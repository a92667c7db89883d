"""Rows that every execution reads, so that changing them re-runs whatever depends on them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

ROOT = ""
PAUSED = "paused"
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class DeploymentState:
    variables: dict[str, str]
    paused: bool


def read_state(transaction: "Transaction") -> DeploymentState:
    """The app's environment variables and whether it is paused. Also depends on the row that every push rewrites."""
    system = transaction.system
    system.scan(ROOT, "_udf_config")
    variables = {str(row.value["name"]): str(row.value["value"]) for row in system.scan(ROOT, "_environment_variables")}
    states = system.scan(ROOT, "_backend_state")
    return DeploymentState(variables, any(row.value.get("user") == PAUSED for row in states))


def write_paused(transaction: "Transaction", paused: bool) -> None:
    system = transaction.system
    for row in system.scan(ROOT, "_backend_state"):
        system.delete(ROOT, "_backend_state", row.id)
    user = PAUSED if paused else RUNNING
    system.insert(ROOT, "_backend_state", {"system": "none", "usage_limit": "none", "user": user})
