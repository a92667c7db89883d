"""Commands that run models on a suite: `run`, `validate`, `demo`, `ablate`."""

from dataclasses import replace
from typing import Annotated

import typer

from convex_evals.cli.options import Trials, model_option, takes
from convex_evals.cli.runs.options import ASKING, FOR_ABLATION, AblationOptions, RunOptions

NOT_FOR_VALIDATE = (ASKING - {"trials"}) | {"budget", "resume", "regrade", "dry_run", "fail_under", "to"}
AblatedModel = Annotated[list[str] | None, model_option("The model, as provider/model.")]
Ablation = Annotated[
    str | None, typer.Option("--resume", metavar="ABLATION", help="Continue an ablation, or show it again.")
]
FOR_DEMO = {"categories", "pattern", "jobs", "sandbox", "json", "scores"}


@takes(RunOptions)
def run(options: RunOptions) -> None:
    """Run models on a suite, grade every answer and store every result.

    Press Ctrl-C once to finish what is in progress and see how to resume, twice to stop at once. MODELS, TEST_FILTER
    and EVALS_EXPERIMENT replace options that are not given. The exit code is 0 when every eval has a verdict, passed or
    failed, and 3 when some have none.

    Examples:
      convex-evals run -m openai/gpt-5.2
      convex-evals run -m openai/gpt-5.2,anthropic/claude-opus-5-5 -c queries --trials 3
      convex-evals run -m sample/apprentice --limit 5
      convex-evals run -m local/qwen3 --base-url http://127.0.0.1:8080/v1
      convex-evals run -m openai/gpt-5.2 --dry-run
      convex-evals run --resume latest
      convex-evals run -m openai/gpt-5.2 --fail-under 0.8 --junit results.xml
    """
    from convex_evals.cli.runs.command import perform

    raise typer.Exit(perform(options))


@takes(RunOptions, without=NOT_FOR_VALIDATE, trials=Trials)
def validate(options: RunOptions) -> None:
    """Check a suite: every reference answer must pass every step.

    With several trials, graders that do not pass their reference answer every time are named as flaky. The exit code is
    1 when one failed or an eval is broken, 3 when one has no verdict.

    Examples:
      convex-evals validate
      convex-evals validate -f index_and_filter
      convex-evals validate --evals my-suite --trials 3
    """
    from convex_evals.cli.runs.command import perform

    raise typer.Exit(perform(replace(options, models=["reference"], purpose="validate")))


@takes(RunOptions, only=FOR_DEMO)
def demo(options: RunOptions) -> None:
    """Show the whole story without an API key: grade recorded answers, explain what failed, and compare two models.

    The evals are those that both have answered: sample/apprentice, whose answers were written by hand, with mistakes
    that models make, and sample/expert, whose answers are right. The runs are kept like any other. The exit code is 0
    even though evals fail, and 3 when some have no verdict.

    Examples:
      convex-evals demo
      convex-evals demo -c queries
    """
    from convex_evals.cli.demo import MODEL, SECOND, perform_demo, recorded_evals
    from convex_evals.suite import own_suite

    chosen = replace(options, models=[MODEL, SECOND], names=recorded_evals(), evals=own_suite(), to="local")
    raise typer.Exit(perform_demo(chosen))


@takes(
    AblationOptions,
    only=FOR_ABLATION,
    models=AblatedModel,
    trials=Trials,
    resume=Ablation,
)
def ablate(options: AblationOptions) -> None:
    """Measure what each section of the guidelines is worth: ask with all, without each, and without any of them.

    Each of these is an ordinary run, labelled ablation. The report has the change of the pass rate per section with an
    interval, and how many tokens the section takes. The exit code is 3 when some answers have no verdict.

    Examples:
      convex-evals ablate -m openai/gpt-5.2 --dry-run
      convex-evals ablate -m openai/gpt-5.2 --section 'Queries' -c queries
      convex-evals ablate --resume 0a1b2c3d
    """
    from convex_evals.cli.ablation import perform

    raise typer.Exit(perform(options))
