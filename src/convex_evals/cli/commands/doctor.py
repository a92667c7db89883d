"""`convex-evals doctor`: is this machine ready?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import Json

if TYPE_CHECKING:
    from convex_evals.core.machine import Fact


def doctor(
    offline: Annotated[bool, typer.Option("--offline", help="Do not contact the package registries.")] = False,
    json: Json = False,
) -> None:
    """Check whether this machine is ready, and show how to fix what is not.

    It changes nothing, and shows only the names of keys. The exit code is 1 when something is missing.

    Examples:
      convex-evals doctor
      convex-evals doctor --offline --json
    """
    import asyncio

    from convex_evals.cli.output import print_json
    from convex_evals.core.machine import Status, gather_facts
    from convex_evals.core.settings import read_settings

    facts = asyncio.run(gather_facts(read_settings(), network=not offline))
    ready = all(fact.status is not Status.MISSING for fact in facts)
    if json:
        print_json({"ready": ready, "facts": [_fact_json(fact) for fact in facts]})
    else:
        _print_table(facts, ready)
    if not ready:
        raise typer.Exit(1)


def _print_table(facts: Sequence["Fact"], ready: bool) -> None:
    from convex_evals.cli.output import print_lines, print_table, table

    rows = table(["", "status", "found"], fold="found")
    for fact in facts:
        rows.add_row(fact.name, fact.status, fact.detail, style=_style(fact))
    print_table(rows)
    fixes = [fact for fact in facts if fact.fix]
    if fixes:
        print_lines(["", "What helps:", *(f"  {fact.name}: {fact.fix}" for fact in fixes)])
    print_lines(["", "This machine is ready." if ready else "This machine is not ready: see what is missing above."])


def _fact_json(fact: "Fact") -> dict[str, str | None]:
    return {"name": fact.name, "status": fact.status.value, "detail": fact.detail, "fix": fact.fix}


def _style(fact: "Fact") -> str:
    return {"ok": "", "warning": "yellow", "missing": "bold red"}[fact.status]
