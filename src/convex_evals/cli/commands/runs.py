"""Commands that look at runs: `status`, `show`, `compare`."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from convex_evals.cli.options import EvalsFolder, Json, Scores

if TYPE_CHECKING:
    from pathlib import Path

    from convex_evals.scores import RunRecord, ScoresStore
    from convex_evals.statistics import Score


def status(
    failed: Annotated[
        bool, typer.Option("--failed", help="List the evals that failed in the last run of each model.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Number of runs to show, newest first.")] = 20,
    evals: EvalsFolder = None,
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Show the latest runs: counts, scores, whether they are running or were interrupted, and how to resume them.

    Only complete runs of the suite have a score. The last run of a model is one of all evals: those of some evals and
    those of `validate`, `models check` and `ablate` do not count.
    """
    from convex_evals.cli.output import print_json
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.scores import RunFilter

    with existing_scores(scores) as store:
        runs = _last_of_each_model(store) if failed else store.runs(RunFilter(limit=limit))
        if json:
            print_json(_failed_json(store, runs) if failed else _runs_json(store, runs, evals))
        elif failed:
            _print_failed(store, runs)
        else:
            _print_runs(store, runs, evals)


def _last_of_each_model(store: "ScoresStore") -> tuple["RunRecord", ...]:
    from convex_evals.runner import last_run

    names = dict.fromkeys((run.model, run.experiment) for run in store.runs())
    found = (last_run(store, *each) for each in names)
    return tuple(run for run in found if run is not None)


def _print_runs(store: "ScoresStore", runs: tuple["RunRecord", ...], evals: "Path | None") -> None:
    from convex_evals.cli.output import print_lines, print_table, table
    from convex_evals.cli.runs.lookup import can_resume, condition
    from convex_evals.cli.runs.summaries import cost_text
    from convex_evals.core.ids import prefix
    from convex_evals.runner import Spending

    headings = ["run", "model", "experiment", "status", "passed", "failed", "no verdict", "evals", "score", "cost"]
    rows, scores = table([*headings, "started (UTC)"]), _scores(store, runs, evals)
    for run in runs:
        counts = run.counts
        numbers = (counts.passed, counts.failed, counts.infrastructure)
        started = f"{run.started_at:%Y-%m-%d %H:%M}"
        names = (prefix(run.id), run.model, run.experiment, condition(store, run))
        cost = cost_text(Spending.of(store.generations(run.id)))
        rows.add_row(*names, *map(str, numbers), _evals(run), _score(scores.get(run.id)), cost, started)
    print_table(rows)
    if any(run.counts.total > run.evals for run in runs):
        print_lines(["", "With several trials, what passed and failed is counted in trials."])
    resumable = [run for run in runs if can_resume(store, run)]
    if resumable:
        typer.echo("\nWhat has no verdict is taken up by:")
    for run in resumable:
        typer.echo(f"  convex-evals run --resume {prefix(run.id)}")


def _evals(run: "RunRecord") -> str:
    total = run.counts.total
    if total == run.evals:
        return str(run.evals)
    return f"{run.evals} × {run.trials}" if total == run.evals * run.trials else f"{run.evals}, {total} trials"


def _score(found: "Score | None") -> str:
    from convex_evals.cli.runs.summaries import short_interval_text

    return "" if found is None else short_interval_text(found)


def _scores(store: "ScoresStore", runs: tuple["RunRecord", ...], evals: "Path | None") -> dict[str, "Score"]:
    """Of the complete runs of the suite, by id."""
    from convex_evals.runner import RunScore, why_no_score
    from convex_evals.suite import find_suite, load_suite

    suite = load_suite(find_suite(evals))
    complete = [run for run in runs if why_no_score(run, store.planned(run.id), suite) is None]
    found = ((run.id, RunScore.of(run, store.results(run.id)).score) for run in complete)
    return {run: score for run, score in found if score is not None}


def _print_failed(store: "ScoresStore", runs: tuple["RunRecord", ...]) -> None:
    from convex_evals.cli.output import print_table, table
    from convex_evals.cli.runs.lookup import result_details
    from convex_evals.cli.runs.summaries import reason
    from convex_evals.core.ids import prefix

    rows = table(["run", "model", "experiment", "eval", "trial", "why"])
    for run in runs:
        for each in result_details(store, run.id):
            if each.attempt.status == "failed":
                names = (prefix(run.id), run.model, run.experiment, each.attempt.eval)
                rows.add_row(*names, str(each.attempt.trial), reason(each))
    print_table(rows)


def _runs_json(store: "ScoresStore", runs: tuple["RunRecord", ...], evals: "Path | None") -> dict[str, object]:
    from convex_evals.cli.runs.as_json import run_score_json, run_summary_json
    from convex_evals.cli.runs.lookup import can_resume, condition
    from convex_evals.cli.runs.summaries import spending_json
    from convex_evals.runner import RunScore, Spending

    scores = _scores(store, runs, evals)
    return {
        "runs": [
            {
                **run_summary_json(run),
                **run_score_json(RunScore.of(run, store.results(run.id))),
                "isScored": run.id in scores,
                **spending_json(Spending.of(store.generations(run.id))),
                "condition": condition(store, run),
                "canResume": can_resume(store, run),
            }
            for run in runs
        ]
    }


def _failed_json(store: "ScoresStore", runs: tuple["RunRecord", ...]) -> dict[str, object]:
    from convex_evals.cli.runs.as_json import eval_json, run_summary_json
    from convex_evals.cli.runs.lookup import result_details

    return {
        "runs": [
            {
                "run": run_summary_json(run),
                "evals": [
                    eval_json(store, each) for each in result_details(store, run.id) if each.attempt.status == "failed"
                ],
            }
            for run in runs
        ]
    }


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run id, or its first characters.")],
    eval: Annotated[
        str | None, typer.Argument(metavar="[EVAL]", help="One eval of it (name or category/name).")
    ] = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Which trial of the eval.")] = 1,
    log: Annotated[
        Literal["filesystem", "install", "deploy", "tsc", "eslint", "tests"] | None,
        typer.Option("--log", help="Print the complete log of this step."),
    ] = None,
    files: Annotated[bool, typer.Option("--files", help="Print the files that the model wrote.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print the prompt.")] = False,
    response: Annotated[bool, typer.Option("--response", help="Print the model's response, word for word.")] = False,
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Show a run as a table of evals and steps, or everything about one of its evals."""
    from convex_evals.cli.output import print_json
    from convex_evals.cli.runs.as_json import run_json
    from convex_evals.cli.runs.display import print_eval, print_evidence, print_run, shown_json
    from convex_evals.cli.runs.lookup import existing_scores, find_attempt
    from convex_evals.core.errors import UsageError

    asks_for_evidence = log is not None or files or prompt or response
    with existing_scores(scores) as store:
        record = store.find_run(run)
        if eval is None:
            if asks_for_evidence:
                raise UsageError("--log, --files, --prompt and --response are about one eval; name it after the run.")
            print_json(run_json(store, record)) if json else print_run(store, record)
            return
        details = find_attempt(store, record, eval, trial)
        if json:
            print_json(shown_json(store, record, details))
        elif asks_for_evidence:
            print_evidence(store, record, details, log=log, files=files, prompt=prompt, response=response)
        else:
            print_eval(store, record, details)


def compare(
    runs: Annotated[list[str], typer.Argument(metavar="RUN RUN [RUN …]", help="Run ids, or their first characters.")],
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print one line per pair of runs as CSV.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print one row per pair of runs as Markdown.")] = False,
    scores: Scores = None,
) -> None:
    """Compare runs eval by eval: what flipped, the difference with its interval, and whether it is significant.

    Only evals with a verdict in both runs and the same task and grader count. With more than two runs, every pair is
    compared, and p is corrected for the number of pairs.
    """
    from convex_evals.cli.output import print_json, print_lines
    from convex_evals.cli.runs import comparison as shown
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.core.errors import UsageError
    from convex_evals.runner import RunResults, compare_runs

    if len(runs) < 2:
        raise UsageError("`compare` takes at least two runs; `convex-evals status` lists them.")
    if sum((json, csv, markdown)) > 1:
        raise UsageError("Choose one of --json, --csv and --markdown.")
    with existing_scores(scores) as store:
        found = [RunResults.of(store.find_run(each), store) for each in runs]
    if len({each.run.id for each in found}) < len(found):
        raise UsageError("A run was named twice; `compare` takes different runs.")
    pairs = compare_runs(found)
    if csv or markdown:
        typer.echo(shown.pairs_csv(pairs) if csv else shown.pairs_markdown(pairs), nl=False)
    elif json:
        print_json(
            shown.pair_json(pairs[0]) if len(pairs) == 1 else {"pairs": [shown.pair_json(each) for each in pairs]}
        )
    else:
        labels = ("before:", "after:") if len(found) == 2 else [""] * len(found)
        print_lines(shown.run_line(label, each) for label, each in zip(labels, found, strict=True))
        print_lines(shown.pair_lines(pairs[0]) if len(pairs) == 1 else shown.matrix_lines(pairs))
