"""`convex-evals status`: which runs there are, how they went, and what can be resumed."""

from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import Json, Scores

if TYPE_CHECKING:
    from convex_evals.scores import RunRecord, ScoresStore


def status(
    failed: Annotated[
        bool, typer.Option("--failed", help="List the evals that failed in the last run of each model.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Show so many runs, newest first.")] = 20,
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Show the latest runs: counts, whether they are running or were interrupted, and how to resume them."""
    from convex_evals.cli.output import print_json
    from convex_evals.cli.runs.looking import existing_scores
    from convex_evals.scores import RunFilter

    with existing_scores(scores) as store:
        runs = _last_of_each_model(store) if failed else store.runs(RunFilter(limit=limit))
        if json:
            print_json(_failed_json(store, runs) if failed else _runs_json(store, runs))
        elif failed:
            _print_failed(store, runs)
        else:
            _print_runs(store, runs)


def _last_of_each_model(store: "ScoresStore") -> tuple["RunRecord", ...]:
    newest: dict[tuple[str, str], RunRecord] = {}
    for run in store.runs():
        if run.counts.remaining < run.counts.total:
            newest.setdefault((run.model, run.experiment), run)
    return tuple(newest.values())


def _print_runs(store: "ScoresStore", runs: tuple["RunRecord", ...]) -> None:
    from convex_evals.cli.output import print_table, table
    from convex_evals.cli.runs.looking import can_resume, condition
    from convex_evals.cli.runs.spending import cost_text
    from convex_evals.core.ids import prefix
    from convex_evals.runner import Spending

    rows = table(
        ["run", "model", "experiment", "status", "passed", "failed", "no verdict", "total", "cost", "started (UTC)"]
    )
    for run in runs:
        counts = run.counts
        numbers = (counts.passed, counts.failed, counts.infrastructure, counts.total)
        started = f"{run.started_at:%Y-%m-%d %H:%M}"
        names = (prefix(run.id), run.model, run.experiment, condition(store, run))
        cost = cost_text(Spending.of(store.generations(run.id)))
        rows.add_row(*names, *map(str, numbers), cost, started)
    print_table(rows)
    resumable = [run for run in runs if can_resume(store, run)]
    if resumable:
        typer.echo("\nWhat has no verdict is taken up by:")
    for run in resumable:
        typer.echo(f"  convex-evals run --resume {prefix(run.id)}")


def _print_failed(store: "ScoresStore", runs: tuple["RunRecord", ...]) -> None:
    from convex_evals.cli.output import print_table, table
    from convex_evals.cli.runs.looking import result_details
    from convex_evals.cli.runs.summaries import reason
    from convex_evals.core.ids import prefix

    rows = table(["run", "model", "experiment", "eval", "trial", "why"])
    for run in runs:
        for each in result_details(store, run.id):
            if each.attempt.status == "failed":
                names = (prefix(run.id), run.model, run.experiment, each.attempt.eval)
                rows.add_row(*names, str(each.attempt.trial), reason(each))
    print_table(rows)


def _runs_json(store: "ScoresStore", runs: tuple["RunRecord", ...]) -> dict[str, object]:
    from convex_evals.cli.runs.as_json import run_summary_json
    from convex_evals.cli.runs.looking import can_resume, condition
    from convex_evals.cli.runs.spending import spending_json
    from convex_evals.runner import Spending

    return {
        "runs": [
            {
                **run_summary_json(run),
                **spending_json(Spending.of(store.generations(run.id))),
                "condition": condition(store, run),
                "canResume": can_resume(store, run),
            }
            for run in runs
        ]
    }


def _failed_json(store: "ScoresStore", runs: tuple["RunRecord", ...]) -> dict[str, object]:
    from convex_evals.cli.runs.as_json import eval_json, run_summary_json
    from convex_evals.cli.runs.looking import result_details

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
