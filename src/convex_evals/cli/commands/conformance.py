"""`convex-evals conformance`: does a deployment behave like Convex?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import JsonFile

if TYPE_CHECKING:
    from convex_evals.backend.conformance import Check, Deployments, Results
    from convex_evals.core.toolchain import Toolchain


def conformance(
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="URL",
            help="The deployment to check; its code and data are replaced (default: an embedded one).",
        ),
    ] = None,
    admin_key: Annotated[
        str | None, typer.Option("--admin-key", metavar="KEY", help="The admin key of the deployment at --against.")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="ITEMS", help="Only these items: numbers, ranges, sections (9,26-44,H)."),
    ] = None,
    json: JsonFile = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the results as a page.")
    ] = None,
) -> None:
    """Check a deployment against the numbered list of Convex behaviours.

    The exit code is 1 when an item failed.

    Examples:
      convex-evals conformance
      convex-evals conformance --only 26-44,H --json results.json
    """
    import asyncio

    from convex_evals.cli.output import remark, write_json

    results = asyncio.run(_run(against, admin_key, only))
    if markdown is not None:
        markdown.write_text(results.to_markdown())
    if json is not None:
        write_json(results.to_json(), json)
    passed, total = results.count("passed"), len(results.items)
    p1 = [item for item in results.items if item.check.p1]
    remark(
        f"{results.target}: {passed} of {total} items passed, {results.count('failed')} failed, "
        f"{results.count('unsupported')} unsupported; P1: {results.count('passed', p1_only=True)} of {len(p1)}"
    )
    if results.count("failed"):
        raise typer.Exit(1)


async def _run(against: str | None, admin_key: str | None, only: str | None) -> "Results":
    from convex_evals.backend.conformance import all_checks, run_checks
    from convex_evals.cli.output import remark
    from convex_evals.core.settings import read_settings
    from convex_evals.core.toolchain import prepare_toolchain

    checks = _chosen(all_checks(), only)
    deployments = _deployments(against, admin_key, await prepare_toolchain(read_settings(), remark))
    return await run_checks(
        deployments,
        checks,
        lambda item: remark(
            f"{item.status:<11} {item.check.number:>3}  {item.check.behaviour}  {item.detail}".rstrip()
        ),
    )


def _deployments(against: str | None, admin_key: str | None, toolchain: "Toolchain") -> "Deployments":
    from convex_evals.backend.conformance import EmbeddedDeployments, RemoteDeployment
    from convex_evals.core.errors import UsageError

    if against is None:
        return EmbeddedDeployments(toolchain)
    if admin_key is None:
        raise UsageError("--against needs the deployment's admin key; add --admin-key KEY.")
    return RemoteDeployment(against, admin_key, toolchain)


def _chosen(checks: list["Check"], only: str | None) -> list["Check"]:
    from convex_evals.core.errors import UsageError

    if only is None:
        return checks
    wanted: set[int] = set()
    for part in only.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit() and (last.isdigit() or not last):
            wanted.update(range(int(first), int(last or first) + 1))
        elif len(first) == 1 and first.isalpha() and not last:
            wanted.update(check.number for check in checks if check.section == first.upper())
        else:
            raise UsageError(f"--only takes numbers, ranges and section letters like 9,26-44,H; found {part!r}.")
    chosen = [check for check in checks if check.number in wanted]
    if not chosen:
        raise UsageError(f"--only {only} names no item; there are 1 to {checks[-1].number}.")
    return chosen
