"""`convex-evals validate`: do the reference answers pass?"""

import typer

from convex_evals.cli.options import (
    AdminKey,
    AnswerFiles,
    Backend,
    Categories,
    CompilerVersion,
    EvalsFolder,
    Events,
    Filter,
    Jobs,
    JsonFile,
    Keep,
    LinterName,
    Names,
    PackagesBefore,
    SandboxMode,
    Scores,
    Trials,
)


def validate(
    category: Categories = None,
    filter: Filter = None,
    name: Names = None,
    trials: Trials = None,
    jobs: Jobs = None,
    evals: EvalsFolder = None,
    backend: Backend = None,
    admin_key: AdminKey = None,
    answer_files: AnswerFiles = None,
    packages_before: PackagesBefore = None,
    linter: LinterName = None,
    compiler: CompilerVersion = None,
    sandbox: SandboxMode = None,
    keep: Keep = False,
    json: JsonFile = None,
    events: Events = None,
    scores: Scores = None,
) -> None:
    """Check a suite: every reference answer must pass every step.

    With several trials, graders that do not pass their reference answer every time are named as flaky. The exit code is
    1 when one failed or an eval is broken, 3 when one has no verdict.
    """
    from convex_evals.cli.runs.asking import Asked
    from convex_evals.cli.runs.reporting import perform

    asked = Asked(
        models=("reference",),
        categories=category or (),
        pattern=filter,
        names=name or (),
        trials=trials,
        jobs=jobs,
        evals=evals,
        backend=backend,
        admin_key=admin_key,
        answer_files=answer_files,
        packages_before=packages_before,
        linter=linter,
        compiler=compiler,
        sandbox=sandbox,
        keep=keep,
        json=json,
        events=events,
        scores=scores,
        purpose="validate",
    )
    raise typer.Exit(perform(asked))
