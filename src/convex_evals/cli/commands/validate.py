"""`convex-evals validate`: do the reference answers pass?"""

from dataclasses import replace

import typer

from convex_evals.cli.command import takes
from convex_evals.cli.options import Trials
from convex_evals.cli.runs.options import ASKING, RunOptions

NOT_OURS = (ASKING - {"trials"}) | {"budget", "resume", "regrade", "dry_run"}


@takes(RunOptions, without=NOT_OURS, trials=Trials)
def validate(options: RunOptions) -> None:
    """Check a suite: every reference answer must pass every step.

    With several trials, graders that do not pass their reference answer every time are named as flaky. The exit code is
    1 when one failed or an eval is broken, 3 when one has no verdict.
    """
    from convex_evals.cli.runs.command import perform

    raise typer.Exit(perform(replace(options, models=["reference"], purpose="validate")))
