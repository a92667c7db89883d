"""`convex-evals compare`: what changed from one run to another."""

from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import Json, Scores

if TYPE_CHECKING:
    from convex_evals.runner import ComparedEval
    from convex_evals.scores import RunRecord


def compare(
    before: Annotated[str, typer.Argument(metavar="RUN", help="The first run: its id or the beginning of it.")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="The second run.")],
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Compare two runs eval by eval: what changed, and both pass rates.

    Results without a verdict count on neither side.
    """
    from convex_evals.cli.output import print_json
    from convex_evals.cli.runs.as_json import compared_json, run_summary_json
    from convex_evals.cli.runs.looking import existing_scores
    from convex_evals.cli.runs.summaries import comparison_lines
    from convex_evals.runner import compare

    with existing_scores(scores) as store:
        runs = store.find_run(before), store.find_run(after)
        compared = compare(*(store.results(run.id) for run in runs))
    if json:
        sides = {side: {**run_summary_json(run), "passRate": pass_rate(run)} for side, run in _sides(*runs)}
        print_json({**sides, "changes": changes(compared), "evals": [compared_json(each) for each in compared]})
        return
    for side, run in _sides(*runs):
        typer.echo(_described(side, run))
    for line in comparison_lines(compared):
        typer.echo(line)


def pass_rate(run: "RunRecord") -> float | None:
    """Of the results that are verdicts."""
    verdicts = run.counts.passed + run.counts.failed
    return run.counts.passed / verdicts if verdicts else None


def changes(compared: tuple["ComparedEval", ...]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for each in compared:
        counted[each.change] = counted.get(each.change, 0) + 1
    return counted


def _sides(before: "RunRecord", after: "RunRecord") -> tuple[tuple[str, "RunRecord"], tuple[str, "RunRecord"]]:
    return ("before", before), ("after", after)


def _described(side: str, run: "RunRecord") -> str:
    from convex_evals.cli.runs.summaries import headline

    rate = pass_rate(run)
    return f"{side + ':':<8}{headline(run)} · pass rate {'unknown' if rate is None else f'{rate:.1%}'}"
