"""`convex-evals status`: which runs there are, how they went, and what can be resumed."""

from typing import TYPE_CHECKING, Annotated

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
    from convex_evals.cli.runs.spending import cost_text
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
    from convex_evals.cli.runs.spending import spending_json
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
