"""`convex-evals demo`: the whole story on this machine, no keys needed."""

from dataclasses import fields, replace

import typer

from convex_evals.cli.command import takes
from convex_evals.cli.runs.options import RunOptions

OURS = {"categories", "pattern", "jobs", "sandbox", "json", "scores"}


@takes(RunOptions, without={field.name for field in fields(RunOptions)} - OURS)
def demo(options: RunOptions) -> None:
    """Show the whole story without an API key: grade recorded answers and explain what failed.

    sample/apprentice answers every eval; its answers were written by hand, with mistakes that models make. The run is
    kept like any other. The exit code is 0 although evals fail, and 3 when some have no verdict.
    """
    from convex_evals.cli.demo.command import MODEL, perform_demo
    from convex_evals.suite import own_suite

    raise typer.Exit(perform_demo(replace(options, models=[MODEL], evals=own_suite())))
