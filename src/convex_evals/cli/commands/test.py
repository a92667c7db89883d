"""`convex-evals test`: the checks of this repository."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convex_evals.cli.checks import CheckResult


def test(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PYTEST_ARGUMENT…]", help="Arguments for pytest, after --."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Skip tests that take more than a few seconds.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Add the exhaustive tests: every CLI version, every control.")
    ] = False,
) -> None:
    """Check a clone of this repository: formatter, linter, types, layers, tests.

    Every check runs even after one has failed; the exit code is 1 if any failed. If no more than five tests failed,
    they run once more, alone; those that pass then are named as flaky.

    Examples:
      convex-evals test
      convex-evals test --fast
      convex-evals test -- tests/cli -k completion
    """
    import asyncio
    import time

    from convex_evals.cli.checks import checks, development_environment, require_development_packages, run_checks
    from convex_evals.core.distribution import checkout_root
    from convex_evals.core.errors import UsageError
    from convex_evals.core.settings import read_settings

    root = checkout_root()
    if root is None:
        raise UsageError("`convex-evals test` checks a clone of the repository; run ./convex-evals test in one.")
    if fast and everything:
        raise UsageError("--fast leaves tests out and --all adds some; choose one of them.")
    require_development_packages()
    settings = read_settings()
    chosen = checks(
        settings.cache_folder, arguments or (), selection="fast" if fast else "all" if everything else "usual"
    )
    started = time.monotonic()
    passed = asyncio.run(run_checks(chosen, root, development_environment(settings), _report))
    _report_line("all checks", passed, time.monotonic() - started)
    if not passed:
        raise typer.Exit(1)


def _report(result: "CheckResult") -> None:
    if not result.passed and result.output:
        typer.echo(result.output.rstrip())
    for name in result.flaky:
        typer.echo(f"flaky: {name} failed beside other tests and passed alone")
    _report_line(result.check.name, result.passed, result.seconds)


def _report_line(name: str, passed: bool, seconds: float) -> None:
    typer.echo(f"{name:<14}{'passed' if passed else 'FAILED':<8}{seconds:6.1f} s")
