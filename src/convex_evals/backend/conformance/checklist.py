"""The checks, by number. A check is an async function that raises when its sentence does not hold for the target."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convex_evals.backend.conformance.target import Target

Body = Callable[["Target"], Awaitable[None]]

SECTIONS = {
    "A": "Calling functions",
    "B": "Errors and logs",
    "C": "Runtime environment",
    "D": "Actions, HTTP actions, Node",
    "E": "Auth and metadata",
    "F": "Values, ids, documents",
    "G": "Writes",
    "H": "Queries and indexes",
    "I": "Pagination",
    "J": "Transactions and reactivity",
    "K": "Limits",
    "L": "Schema changes",
    "M": "Full text search",
    "N": "Vector search",
    "O": "Scheduler",
    "P": "Crons",
    "Q": "File storage",
    "R": "Function handles and commit timestamps",
}


@dataclass(frozen=True, slots=True)
class Check:
    number: int
    section: str
    behaviour: str
    body: Body
    p1: bool = False
    owns_deployment: bool = False  # pushes other code or restarts: needs a deployment of its own
    embedded_only: bool = False  # needs control over the process (restart, clock): "unsupported" elsewhere


_checks: dict[int, Check] = {}


def check(
    number: int,
    behaviour: str,
    *,
    p1: bool = False,
    owns_deployment: bool = False,
    embedded_only: bool = False,
) -> Callable[[Body], Body]:
    """Registers a check. Its section is the first letter of the module it stands in (`a_calling` -> A)."""

    def register(body: Body) -> Body:
        if number in _checks:
            raise ValueError(f"check {number} is defined twice")
        section = body.__module__.rpartition(".")[2][0].upper()
        _checks[number] = Check(number, section, behaviour, body, p1, owns_deployment, embedded_only)
        return body

    return register


def all_checks() -> list[Check]:
    """Every check of the checklist, by number."""
    package = import_module("convex_evals.backend.conformance.checks")
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return [_checks[number] for number in sorted(_checks)]
