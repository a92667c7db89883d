"""`convex-evals ablate`: what is each section of the guidelines worth?"""

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
)


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
    from convex_evals.cli.ablation.command import perform
    from convex_evals.cli.runs.options import RunOptions
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
