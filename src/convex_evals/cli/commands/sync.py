"""`convex-evals sync`: send what services do not have yet."""

from typing import Annotated

import typer

from convex_evals.cli.completion import complete_run
from convex_evals.cli.options import Json, Scores, To


def sync(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN…]", autocompletion=complete_run, help="Send all of these runs."),
    ] = None,
    to: To = None,
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Send results that services do not have yet, or the runs that are named.

    A run with --to is sent as it runs; this sends the rest if the service was down. Sending what the service already
    has changes nothing. The exit code is 3 when something is left.

    Examples:
      convex-evals sync
      convex-evals sync -1 --to development
    """
    from convex_evals.cli.sync import perform

    raise typer.Exit(perform(runs or [], to, scores, json=json))
