"""`convex-evals controls`: do the graders tell right from wrong?"""

from typing import Annotated

import typer

from convex_evals.cli.options import Categories, EvalsFolder, Filter, Jobs, JsonFile, Names, SandboxMode

MOST_MUTANTS = 25


def controls(
    category: Categories = None,
    filter: Filter = None,
    name: Names = None,
    mutate: Annotated[
        bool,
        typer.Option("--mutate", help="Also mutate the reference answers, and report how many mutants are caught."),
    ] = False,
    mutants: Annotated[
        int | None,
        typer.Option("--mutants", min=1, metavar="N", help=f"With --mutate: at most N per eval, not {MOST_MUTANTS}."),
    ] = None,
    evals: EvalsFolder = None,
    jobs: Jobs = None,
    sandbox: SandboxMode = None,
    json: JsonFile = None,
) -> None:
    """Check graders with answers whose verdict is known.

    The reference answer must pass, an empty project must fail, each wrong control must fail at its step and test, each
    alternative must pass. Nothing is stored. The exit code is 1 when one is judged otherwise, when a control is broken,
    or when less than nine of ten mutants are caught; it is 3 when there is something without a verdict.
    """
    from convex_evals.cli.controls.command import ControlsOptions, perform
    from convex_evals.core.errors import UsageError
    from convex_evals.suite import Selection

    if mutants is not None and not mutate:
        raise UsageError("--mutants says how many mutants to make; add --mutate.")
    most = (mutants or MOST_MUTANTS) if mutate else None
    selection = Selection(category or (), filter, name or ())
    raise typer.Exit(perform(ControlsOptions(selection, evals, most, jobs, json, sandbox or "required")))
