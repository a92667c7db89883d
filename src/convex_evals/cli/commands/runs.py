"""Commands that look at runs: `show` and `compare`."""

from typing import Annotated

import typer

from convex_evals.cli.completion import complete_run
from convex_evals.cli.options import (
    EVAL_OF_RUN,
    RUN_HELP,
    Csv,
    EvalsFolder,
    Json,
    Markdown,
    Run,
    SandboxMode,
    Scores,
    TableOptions,
    Trial,
    only_one,
    takes,
)
from convex_evals.core.verdicts import StepName

LATEST = "latest"


def show(
    run: Run = LATEST,
    eval: Annotated[str | None, EVAL_OF_RUN] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only evals that failed, with the reason.")] = False,
    trial: Annotated[int | None, typer.Option("--trial", min=1, help="Which trial of the eval (default: 1).")] = None,
    log: Annotated[
        StepName | None,
        typer.Option("--log", metavar="STEP", help="Print the complete log of this step."),
    ] = None,
    commands: Annotated[bool, typer.Option("--commands", help="Show the command lines that the steps ran.")] = False,
    files: Annotated[bool, typer.Option("--files", help="Print the files that the model wrote.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print how the model's files differ from the reference answer.")
    ] = False,
    reference: Annotated[bool, typer.Option("--reference", help="Print the files of the reference answer.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print the prompt.")] = False,
    response: Annotated[bool, typer.Option("--response", help="Print the model's response, word for word.")] = False,
    evals: EvalsFolder = None,
    json: Json = False,
    csv: Csv = False,
    markdown: Markdown = False,
    junit: Annotated[bool, typer.Option("--junit", help="Print the run as JUnit XML.")] = False,
    scores: Scores = None,
) -> None:
    """Show a run as a table of evals and steps, or everything about one of its evals.

    Examples:
      convex-evals show
      convex-evals show latest --failed
      convex-evals show latest:openai/gpt-5.2 012-index_and_filter
      convex-evals show 0a1b2c3d index_and_filter --diff
      convex-evals show -1 index_and_filter --log deploy
      convex-evals show latest --csv > run.csv
    """
    from convex_evals.cli.output import print_json, write_text
    from convex_evals.cli.runs.as_json import run_json
    from convex_evals.cli.runs.display import print_eval, print_run, shown_json
    from convex_evals.cli.runs.evidence import Wanted, print_evidence
    from convex_evals.cli.runs.exports import run_csv, run_markdown, runs_junit
    from convex_evals.cli.runs.lookup import existing_scores, find_attempt, find_run
    from convex_evals.cli.runs.status import Failures, print_failures
    from convex_evals.core.errors import UsageError
    from convex_evals.core.ids import prefix

    only_one(json=json, csv=csv, markdown=markdown, junit=junit)
    wanted = Wanted(log, files, prompt, response, reference, diff, evals)
    with existing_scores(scores) as store:
        record = find_run(store, run)
        if eval is None:
            if wanted.something or commands or trial is not None:
                raise UsageError(
                    "--log, --commands, --files, --diff, --reference, --prompt, --response and --trial are about one "
                    "eval; name it after the run."
                )
            if csv or markdown or junit:
                exported = run_csv if csv else run_markdown if markdown else lambda *of: runs_junit(of[0], of[1:])
                write_text(exported(store, record), "-")
            elif json:
                print_json(run_json(store, record, failed=failed))
            elif failed:
                nothing = f"No eval failed in run {prefix(record.id)} of {record.model}."
                print_failures(store, (Failures.of(store, record),), "text", nothing)
            else:
                print_run(store, record)
            return
        if csv or markdown or junit or failed:
            raise UsageError("--failed, --csv, --markdown and --junit are about a whole run; leave out the eval.")
        details = find_attempt(store, record, eval, trial or 1)
        if json:
            print_json(shown_json(store, record, details))
        elif wanted.something:
            print_evidence(store, record, details, wanted)
        else:
            print_eval(store, record, details, commands=commands)


def open_eval(
    run: Run,
    eval: Annotated[str, EVAL_OF_RUN],
    trial: Trial = 1,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the project instead of deleting it.")] = False,
    evals: EvalsFolder = None,
    sandbox: SandboxMode = None,
    scores: Scores = None,
) -> None:
    """Open what a model answered: the project in $EDITOR, with its deployment running until Ctrl-C.

    The answer is written, installed and deployed as it was for grading. `npx convex` in its folder talks to that
    deployment. Afterwards everything is removed, unless --keep is given.

    Examples:
      convex-evals open latest index_and_filter
      convex-evals open latest:openai/gpt-5.2 index_and_filter --keep
    """
    from convex_evals.cli.editor import OpenOptions, open_answer

    open_answer(OpenOptions(run, eval, trial, keep, evals, sandbox or "required", scores))


@takes(TableOptions)
def compare(
    options: TableOptions,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN…",
            autocompletion=complete_run,
            help=f"{RUN_HELP.removesuffix('.')} (default: the latest run and the one before it of the same model).",
        ),
    ] = None,
) -> None:
    """Compare runs eval by eval: what flipped, the difference with its interval, and whether it is significant.

    Only evals with a verdict in both runs and the same task and grader count. With more than two runs, every pair is
    compared, and p is corrected for the number of pairs.

    Examples:
      convex-evals compare
      convex-evals compare latest:openai/gpt-5.2 latest:anthropic/claude-opus-5-5
      convex-evals compare -2 -1 --markdown
    """
    from convex_evals.cli.output import print_json, print_lines, write_text
    from convex_evals.cli.runs import comparison as shown
    from convex_evals.cli.runs.lookup import compared_runs, existing_scores
    from convex_evals.core.errors import UsageError
    from convex_evals.runner import RunResults, compare_runs

    shape = options.shape
    with existing_scores(options.scores) as store:
        found = [RunResults.of(each, store) for each in compared_runs(store, runs or ())]
    if len({each.run.id for each in found}) < len(found):
        raise UsageError("A run was named twice; `compare` takes different runs.")
    pairs = compare_runs(found)
    match shape:
        case "csv":
            write_text(shown.pairs_csv(pairs), "-")
        case "markdown":
            write_text(shown.pairs_markdown(pairs), "-")
        case "json":
            as_json = [shown.pair_json(each) for each in pairs]
            print_json(as_json[0] if len(pairs) == 1 else {"pairs": as_json})
        case _:
            labels = ("before:", "after:") if len(found) == 2 else [""] * len(found)
            print_lines(shown.run_line(label, each) for label, each in zip(labels, found, strict=True))
            print_lines(shown.pair_lines(pairs[0]) if len(pairs) == 1 else shown.matrix_lines(pairs))
