"""`convex-evals compare`: what changed from one run to another, and whether it means anything."""

from typing import Annotated

import typer

from convex_evals.cli.options import Json, Scores


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
