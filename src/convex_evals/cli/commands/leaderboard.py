"""`convex-evals leaderboard`: which model is better, by how much, and how sure that is."""

from typing import Annotated

import typer

from convex_evals.cli.options import Json, Scores


def leaderboard(
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", metavar="VERSION", help="The benchmark version (default: the newest).")
    ] = None,
    experiment: Annotated[
        str, typer.Option("--experiment", "-e", metavar="NAME", help="The experiment (default: default).")
    ] = "default",
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    scores: Scores = None,
) -> None:
    """Rank models by their complete runs of one benchmark version.

    A rank is a range when models cannot be told apart. Runs that do not belong to the version are listed, not ranked.
    """
    from convex_evals.cli.leaderboard import leaderboard_csv, leaderboard_json, leaderboard_lines
    from convex_evals.cli.output import print_json, print_lines
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.core.errors import UsageError
    from convex_evals.runner.benchmarks import find_benchmark
    from convex_evals.runner.leaderboard import leaderboard

    if json and csv:
        raise UsageError("Choose one of --json and --csv.")
    with existing_scores(scores) as store:
        version = find_benchmark(store, benchmark)
        if version is None:
            raise UsageError(
                "No benchmark version is minted, so no run can be ranked; "
                "`convex-evals validate`, then `convex-evals benchmark mint v1` makes one."
            )
        found = leaderboard(store, version, experiment)
    if json:
        print_json(leaderboard_json(found))
    elif csv:
        typer.echo(leaderboard_csv(found), nl=False)
    else:
        print_lines(leaderboard_lines(found))
