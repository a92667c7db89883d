"""`convex-evals run`: ask models, grade what comes back, keep every result."""

from typing import Annotated

import typer

from convex_evals.cli.options import (
    AdminKey,
    AnswerFiles,
    Backend,
    BaseUrl,
    Budget,
    Categories,
    CompilerVersion,
    EvalsFolder,
    Events,
    Experiment,
    Filter,
    Guidelines,
    Jobs,
    JsonFile,
    Keep,
    LinterName,
    Models,
    Names,
    PackagesBefore,
    SandboxMode,
    Scores,
)


def run(
    model: Models = None,
    category: Categories = None,
    filter: Filter = None,
    name: Names = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only evals that failed in the model's last run.")] = False,
    experiment: Experiment = None,
    guidelines: Guidelines = None,
    base_url: BaseUrl = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            min=1,
            metavar="N",
            help="Trials per task (default: 1); with --until-sure the most per task (default: 5).",
        ),
    ] = None,
    until_sure: Annotated[
        bool,
        typer.Option("--until-sure", help="Add trials until it is sure which is better, or --trials are used up."),
    ] = False,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="RUN", help="With --until-sure: compare with this run, not with each other."),
    ] = None,
    budget: Budget = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Ignore the response cache.")] = False,
    jobs: Jobs = None,
    evals: EvalsFolder = None,
    backend: Backend = None,
    admin_key: AdminKey = None,
    answer_files: AnswerFiles = None,
    packages_before: PackagesBefore = None,
    linter: LinterName = None,
    compiler: CompilerVersion = None,
    sandbox: SandboxMode = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Continue the unfinished evals of a run.")
    ] = None,
    regrade: Annotated[
        str | None,
        typer.Option("--regrade", metavar="RUN", help="Grade a run's stored answers again and show what changed."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="List what would run, what is already stored, and what it would cost."),
    ] = False,
    keep: Keep = False,
    json: JsonFile = None,
    events: Events = None,
    scores: Scores = None,
) -> None:
    """Run models on a suite, grade every answer and store every result.

    Press Ctrl-C once to finish what is in flight and see how to resume, twice to stop at once. MODELS, TEST_FILTER and
    EVALS_EXPERIMENT replace options that are not given. The exit code is 0 when every eval has a verdict, passed
    or failed, and 3 when some have none.
    """
    from convex_evals.cli.runs.asking import Asked
    from convex_evals.cli.runs.reporting import perform

    asked = Asked(
        models=model or (),
        categories=category or (),
        pattern=filter,
        names=name or (),
        failed=failed,
        experiment=experiment,
        guidelines=guidelines,
        base_url=base_url,
        no_cache=no_cache,
        budget=budget,
        trials=trials,
        until_sure=until_sure,
        against=against,
        jobs=jobs,
        evals=evals,
        backend=backend,
        admin_key=admin_key,
        answer_files=answer_files,
        packages_before=packages_before,
        linter=linter,
        compiler=compiler,
        sandbox=sandbox,
        resume=resume,
        regrade=regrade,
        dry_run=dry_run,
        keep=keep,
        json=json,
        events=events,
        scores=scores,
    )
    raise typer.Exit(perform(asked))
