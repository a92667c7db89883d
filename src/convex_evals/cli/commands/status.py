"""`convex-evals status`: the latest runs, and what failed in them."""

from typing import Annotated, Literal

import typer

from convex_evals.cli.options import EvalsFolder, TableOptions, experiment_option, model_option, takes


@takes(TableOptions)
def status(
    options: TableOptions,
    failed: Annotated[
        bool, typer.Option("--failed", help="List the evals of each model that failed when they were last run.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Number of runs to show, newest first.")] = 20,
    model: Annotated[str | None, model_option("Only runs of this model.")] = None,
    experiment: Annotated[str | None, experiment_option("Only runs of this experiment.")] = None,
    status: Annotated[
        Literal["running", "completed", "interrupted", "failed"] | None,
        typer.Option("--status", help="Only runs in this state."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Only runs begun on this day (UTC) or later.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also show runs of `validate`.")] = False,
    hidden: Annotated[bool, typer.Option("--hidden", help="Also show hidden runs.")] = False,
    evals: EvalsFolder = None,
) -> None:
    """Show the latest runs: counts, scores, state and how to resume them, and what has not been sent to services yet.

    Only complete runs of the suite have a score. --failed, like `run --failed`, takes a model's last run of all evals
    and, for evals that have been run again since, the later verdict; if no run is of all evals, the last verdict on
    each eval. Runs of `validate`, `models check` and `ablate` do not count.

    Examples:
      convex-evals status
      convex-evals status --model openai/gpt-5.2 --since 2026-11-01
      convex-evals status --status interrupted
      convex-evals status --failed
      convex-evals status --csv > runs.csv
    """
    from itertools import islice

    from convex_evals.cli.output import print_lines
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.cli.runs.status import Wanted, print_failures, print_runs

    shape = options.shape
    wanted = Wanted(model, experiment, status, since, everything, hidden)
    with existing_scores(options.scores) as store:
        failures = tuple(wanted.last_failures(store)) if failed else ()
        runs = tuple(islice(wanted.runs(store), 0 if failed else limit))
        if not failures and not runs and shape == "text":
            print_lines([wanted.nothing_found(store)])
        elif failed:
            print_failures(store, failures, shape, "No eval failed when it was last run.")
        else:
            print_runs(store, runs, evals, shape)
