"""Commands about runs: `status`, `show`, `compare`, `open`, and the group `runs` for decisions about them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from convex_evals.cli.completion import complete_run
from convex_evals.cli.options import (
    EVAL_OF_RUN,
    RUN_HELP,
    Author,
    Csv,
    EvalsFolder,
    Json,
    Markdown,
    Run,
    SandboxMode,
    Scores,
    TableOptions,
    Trial,
    Why,
    experiment_option,
    model_option,
    only_one,
    takes,
)
from convex_evals.cli.output import print_lines
from convex_evals.cli.tree import Commands
from convex_evals.core.verdicts import StepName

if TYPE_CHECKING:
    from convex_evals.scores import RunDecision, ScoresStore

LATEST = "latest"
Label = Annotated[str, typer.Argument(metavar="LABEL", help="A word, such as baseline.")]

runs = Commands()


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
        bool,
        typer.Option(
            "--diff", help="Print how the model's files differ from the reference answer, then from given files."
        ),
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
    from convex_evals.cli.runs.display import print_eval, print_run, shown_json
    from convex_evals.cli.runs.evidence import Wanted, print_evidence
    from convex_evals.cli.runs.exports import run_csv, run_json, run_markdown, runs_junit
    from convex_evals.cli.runs.lookup import existing_scores, find_attempt, find_run
    from convex_evals.cli.runs.status import Failures, print_failures
    from convex_evals.core.errors import UsageError
    from convex_evals.core.ids import prefix
    from convex_evals.suite import find_suite, read_tags

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
                print_run(store, record, read_tags(find_suite(evals)))
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
    from convex_evals.cli.output import print_json, write_text
    from convex_evals.cli.runs import comparison as shown
    from convex_evals.cli.runs.lookup import compared_runs, existing_scores
    from convex_evals.core.errors import UsageError
    from convex_evals.runner import RunResults, compare_runs
    from convex_evals.suite import find_suite, read_tags

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
            tags = read_tags(find_suite())
            print_lines(shown.pair_lines(pairs[0], tags) if len(pairs) == 1 else shown.matrix_lines(pairs))


@runs.callback()
def group() -> None:
    """Hide, label and delete runs. Who decided it, when and why is recorded.

    Examples:
      convex-evals runs hide latest --why 'The key had expired.'
      convex-evals runs label 0a1b2c3d baseline --why 'Compare later runs with it.'
    """


@runs.command("hide")
def hide(run: Run, why: Why, author: Author = None, scores: Scores = None) -> None:
    """Leave a run out of lists and leaderboards. It can still be found by its id.

    Examples:
      convex-evals runs hide latest --why 'The key had expired.'
    """
    _decide(run, scores, author, lambda store, run_id, who: store.decisions.hide(run_id, who, why), "hidden")


@runs.command("unhide")
def unhide(run: Run, why: Why, author: Author = None, scores: Scores = None) -> None:
    """Show a hidden run again.

    Examples:
      convex-evals runs unhide 0a1b2c3d --why 'It was the right key after all.'
    """
    _decide(run, scores, author, lambda store, run_id, who: store.decisions.unhide(run_id, who, why), "shown again")


@runs.command("label")
def label(run: Run, label: Label, why: Why, author: Author = None, scores: Scores = None) -> None:
    """Add a label to a run.

    Examples:
      convex-evals runs label 0a1b2c3d baseline --why 'Compare later runs with it.'
    """
    said = f"labelled {label}"
    _decide(run, scores, author, lambda store, run_id, who: store.decisions.label(run_id, label, who, why), said)


@runs.command("delete")
def delete(run: Run, why: Why, author: Author = None, scores: Scores = None) -> None:
    """Delete a run and everything recorded about it. `convex-evals db prune` then removes its artifacts.

    Examples:
      convex-evals runs delete 0a1b2c3d --why 'It was a test.'
    """
    _decide(run, scores, author, lambda store, run_id, who: store.decisions.delete(run_id, who, why), "deleted")


def _decide(
    reference: str,
    scores: str | None,
    author: str | None,
    decide: "Callable[[ScoresStore, str, str], RunDecision]",
    done: str,
) -> None:
    from convex_evals.cli.author import author_name
    from convex_evals.cli.runs.lookup import existing_scores, find_run
    from convex_evals.core.ids import prefix

    with existing_scores(scores) as store:
        made = decide(store, find_run(store, reference).id, author or author_name())
    print_lines([f"Run {prefix(made.run_id)} is {done}, by {made.who}: {made.why}"])
