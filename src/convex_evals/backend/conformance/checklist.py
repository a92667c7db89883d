"""The checks, by number, how they are run, and their results.

A check is an async function that raises when the target does not behave as described.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal

from convex_evals.backend.conformance.target import Deployments, Target
from convex_evals.core.errors import InfrastructureError

Body = Callable[[Target], Awaitable[None]]

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

Status = Literal["passed", "failed", "unsupported"]

CHECK_SECONDS = 240.0


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
    """Registers a check. Its section is the first letter of the module it is defined in (`a_calls` -> A)."""

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


@dataclass(frozen=True, slots=True)
class ItemResult:
    check: Check
    status: Status
    detail: str = ""

    def to_json(self) -> dict[str, object]:
        return {
            "number": self.check.number,
            "priority": "P1" if self.check.p1 else None,
            "behaviour": self.check.behaviour,
            "status": self.status,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class Results:
    target: str
    items: Sequence[ItemResult]

    def count(self, status: Status, *, p1_only: bool = False) -> int:
        return sum(item.status == status and (item.check.p1 or not p1_only) for item in self.items)

    def to_json(self) -> dict[str, object]:
        return {"target": self.target, "items": [item.to_json() for item in self.items]}

    def to_markdown(self) -> str:
        """The page `docs/conformance.md`: no dates and no timings, so that equal results give an equal page."""
        lines = [
            "# Conformance",
            "",
            "Made by `convex-evals conformance --markdown docs/conformance.md`; a test keeps it true.",
            "Each line is one observable behaviour of Convex and whether the embedded deployment shows it.",
            "",
            f"{self.count('passed')} of {len(self.items)} passed; of the P1 items "
            f"{self.count('passed', p1_only=True)} of {sum(item.check.p1 for item in self.items)}.",
        ]
        for letter, title in SECTIONS.items():
            section = [item for item in self.items if item.check.section == letter]
            if section:
                lines += ["", f"## {letter}. {title}", "", "| | | behaviour | status |", "| ---: | --- | --- | --- |"]
                lines += [_row(item) for item in section]
        return "\n".join(lines) + "\n"


def _row(item: ItemResult) -> str:
    behaviour = item.check.behaviour.replace("|", "\\|").replace("\n", " ")
    return f"| {item.check.number} | {'P1' if item.check.p1 else ''} | {behaviour} | {item.status} |"


async def run_checks(
    deployments: Deployments, checks: Sequence[Check], on_result: Callable[[ItemResult], None] | None = None
) -> Results:
    """Runs `checks`: ordinary ones together on one deployment, those that need their own afterwards."""
    results: dict[int, ItemResult] = {}

    def record(result: ItemResult) -> None:
        results[result.check.number] = result
        if on_result is not None:
            on_result(result)

    together = [check for check in checks if not check.owns_deployment]
    if together:
        async with deployments.target() as target:
            pushed = await target.push()
            if not pushed.ok:
                raise InfrastructureError(f"The conformance app could not be deployed: {pushed.output[-2000:]}")
            for check in together:
                record(await _run_one(check, target))
    for check in checks:
        if check.owns_deployment:
            record(await _run_alone(check, deployments))
    return Results(deployments.name, [results[check.number] for check in checks])


async def _run_alone(check: Check, deployments: Deployments) -> ItemResult:
    if check.embedded_only and not deployments.embedded:
        return _unsupported(check)
    async with deployments.target() as target:
        return await _run_one(check, target)


async def _run_one(check: Check, target: Target) -> ItemResult:
    if check.embedded_only and target.embedded is None:
        return _unsupported(check)
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check.body(target)
    except Exception as error:  # whatever a check trips over is a finding about the target
        return ItemResult(check, "failed", f"{type(error).__name__}: {error}"[:2000])
    return ItemResult(check, "passed")


def _unsupported(check: Check) -> ItemResult:
    return ItemResult(check, "unsupported", "needs control over the deployment's process")
