"""`convex-evals test`: the checks of this repository."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convex_evals.cli.checks import CheckResult


def test(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="PYTEST_ARGUMENT", help="Handed to pytest; write -- before the first."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Leave out tests that take more than a few seconds.")] = False,
) -> None:
    """Check a clone of this repository: formatter, linter, types, layers, tests.

    Every check runs, also after one has failed; the exit code is 1 if any did.
    """
    import asyncio

    from convex_evals.cli.checks import checks, development_environment, require_development_packages, run_checks
    from convex_evals.core.checkout import checkout_root
    from convex_evals.core.errors import UsageError
    from convex_evals.core.settings import read_settings

    root = checkout_root()
    if root is None:
        raise UsageError("`convex-evals test` checks a clone of the repository; run ./convex-evals test in one.")
    require_development_packages()
    environment = development_environment(read_settings())
    if not asyncio.run(run_checks(checks(arguments or (), fast=fast), root, environment, _report)):
        raise typer.Exit(1)


def _report(result: "CheckResult") -> None:
    if not result.passed and result.output:
        typer.echo(result.output.rstrip())
    verdict = "passed" if result.passed else "FAILED"
    typer.echo(f"{result.check.name:<14}{verdict:<8}{result.seconds:6.1f} s")
