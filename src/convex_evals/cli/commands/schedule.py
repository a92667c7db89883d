"""`convex-evals schedule`: which models are due, when and why."""

from typing import Annotated

import typer

from convex_evals.cli.options import EvalsFolder, Events, Jobs, Json, SandboxMode, Scores, model_option
from convex_evals.cli.tree import Commands

schedule = Commands()


@schedule.callback(invoke_without_command=True)
def show(context: typer.Context, json: Json = False, scores: Scores = None) -> None:
    """Show which models are due, when and why. Changes nothing.

    The rules are in [schedule] of convex-evals.toml; docs/schedule.md explains them.

    Examples:
      convex-evals schedule
      convex-evals schedule run
      convex-evals schedule simulate --days 30
    """
    from convex_evals.cli.schedule import show_agenda
    from convex_evals.core.settings import read_settings

    if context.invoked_subcommand is None:
        show_agenda(scores, read_settings(), json)


@schedule.command("run")
def run(
    model: Annotated[list[str] | None, model_option("Only this model, if it is due.")] = None,
    jobs: Jobs = None,
    evals: EvalsFolder = None,
    sandbox: SandboxMode = None,
    events: Events = None,
    scores: Scores = None,
) -> None:
    """Run what is due, one model after another, within the budget.

    A scheduled run that was interrupted is resumed. Starting this twice is harmless: the second leaves the work to
    the first. The exit code is 3 when a run has evals without a verdict.

    Examples:
      convex-evals schedule run
      convex-evals schedule run -m openai/gpt-5.2
    """
    from convex_evals.cli.runs.options import RunOptions
    from convex_evals.cli.schedule import run_due
    from convex_evals.core.settings import read_settings

    asked = RunOptions(jobs=jobs, evals=evals, sandbox=sandbox, events=events, scores=scores)
    raise typer.Exit(run_due(asked, read_settings(), model or ()))


@schedule.command("simulate")
def simulate(
    days: Annotated[int, typer.Option("--days", min=1, max=3650, metavar="N", help="Days to look ahead.")] = 365,
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Show what the rules would run in the coming days and what it would cost. Sends no requests.

    Examples:
      convex-evals schedule simulate --days 30
    """
    from convex_evals.cli.schedule import show_simulation
    from convex_evals.core.settings import read_settings

    show_simulation(scores, read_settings(), days, json)
