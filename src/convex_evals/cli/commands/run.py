"""Commands that run models on a suite: `run`, `validate`, `demo`, `ablate`."""

from dataclasses import fields, replace
from typing import Annotated

import typer

from convex_evals.cli.options import (
    BaseUrl,
    Budget,
    Categories,
    EvalsFolder,
    Experiment,
    Filter,
    Guidelines,
    Jobs,
    JsonFile,
    Names,
    Scores,
    Trials,
    takes,
)
from convex_evals.cli.runs.options import ASKING, RunOptions

NOT_FOR_VALIDATE = (ASKING - {"trials"}) | {"budget", "resume", "regrade", "dry_run"}
FOR_DEMO = {"categories", "pattern", "jobs", "sandbox", "json", "scores"}


@takes(RunOptions)
def run(options: RunOptions) -> None:
    """Run models on a suite, grade every answer and store every result.

    Press Ctrl-C once to finish what is in flight and see how to resume, twice to stop at once. MODELS, TEST_FILTER and
    EVALS_EXPERIMENT replace options that are not given. The exit code is 0 when every eval has a verdict, passed
    or failed, and 3 when some have none.
    """
    from convex_evals.cli.runs.command import perform

    raise typer.Exit(perform(options))


@takes(RunOptions, without=NOT_FOR_VALIDATE, trials=Trials)
def validate(options: RunOptions) -> None:
    """Check a suite: every reference answer must pass every step.

    With several trials, graders that do not pass their reference answer every time are named as flaky. The exit code is
    1 when one failed or an eval is broken, 3 when one has no verdict.
    """
    from convex_evals.cli.runs.command import perform

    raise typer.Exit(perform(replace(options, models=["reference"], purpose="validate")))


@takes(RunOptions, without={field.name for field in fields(RunOptions)} - FOR_DEMO)
def demo(options: RunOptions) -> None:
    """Show the whole story without an API key: grade recorded answers and explain what failed.

    sample/apprentice answers every eval; its answers were written by hand, with mistakes that models make. The run is
    kept like any other. The exit code is 0 although evals fail, and 3 when some have no verdict.
    """
    from convex_evals.cli.demo import MODEL, perform_demo
    from convex_evals.suite import own_suite

    raise typer.Exit(perform_demo(replace(options, models=[MODEL], evals=own_suite())))


def ablate(
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="MODEL", help="The model, as provider/model.")
    ] = None,
    guidelines: Guidelines = None,
    section: Annotated[
        list[str] | None,
        typer.Option("--section", metavar="NAME", help="Leave out only this section (default: each in turn)."),
    ] = None,
    category: Categories = None,
    filter: Filter = None,
    name: Names = None,
    experiment: Experiment = None,
    base_url: BaseUrl = None,
    trials: Trials = None,
    budget: Budget = None,
    jobs: Jobs = None,
    evals: EvalsFolder = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="ABLATION", help="Continue an ablation, or show it again.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would run and what it would cost.")] = False,
    json: JsonFile = None,
    scores: Scores = None,
) -> None:
    """Measure what each section of the guidelines is worth: ask with all, without each, and without any of them.

    Each of these is an ordinary run, labelled ablation. The report has the change of the pass rate per section with an
    interval, and how many tokens the section takes. The exit code is 3 when some answers have no verdict.
    """
    from convex_evals.cli.ablation import perform
    from convex_evals.core.errors import UsageError

    asked = RunOptions(
        models=[model] if model else None,
        categories=category,
        pattern=filter,
        names=name,
        experiment=experiment,
        guidelines=guidelines,
        base_url=base_url,
        budget=budget,
        trials=trials,
        jobs=jobs,
        evals=evals,
        dry_run=dry_run,
        json=json,
        scores=scores,
    )
    if (resume is None) == (model is None):
        raise UsageError("Name the model to ask with --model, or the ablation to continue with --resume.")
    if resume is None:
        asked.check()
    elif section or asked.planned():
        raise UsageError("--resume goes on with an ablation as it was planned; leave out what was decided then.")
    raise typer.Exit(perform(asked, section or (), resume))
