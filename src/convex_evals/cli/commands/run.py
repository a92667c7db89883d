"""`convex-evals run`: ask models, grade what comes back, keep every result."""

import typer

from convex_evals.cli.command import takes
from convex_evals.cli.runs.options import RunOptions


@takes(RunOptions)
def run(options: RunOptions) -> None:
    """Run models on a suite, grade every answer and store every result.

    Press Ctrl-C once to finish what is in flight and see how to resume, twice to stop at once. MODELS, TEST_FILTER and
    EVALS_EXPERIMENT replace options that are not given. The exit code is 0 when every eval has a verdict, passed
    or failed, and 3 when some have none.
    """
    from convex_evals.cli.runs.command import perform

    raise typer.Exit(perform(options))
