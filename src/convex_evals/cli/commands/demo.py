"""`convex-evals demo`: the whole story on this machine, no keys needed."""

import typer

from convex_evals.cli.options import Categories, Filter, Jobs, JsonFile, SandboxMode, Scores


def demo(
    category: Categories = None,
    filter: Filter = None,
    jobs: Jobs = None,
    sandbox: SandboxMode = None,
    json: JsonFile = None,
    scores: Scores = None,
) -> None:
    """Show the whole story without an API key: grade recorded answers and explain what failed.

    sample/apprentice answers every eval; its answers were written by hand, with mistakes that models make. The run is
    kept like any other. The exit code is 0 although evals fail, and 3 when some have no verdict.
    """
    from convex_evals.cli.demo.performing import MODEL, perform_demo
    from convex_evals.cli.runs.asking import Asked
    from convex_evals.suite import own_suite

    asked = Asked(
        models=(MODEL,),
        categories=category or (),
        pattern=filter,
        evals=own_suite(),
        jobs=jobs,
        sandbox=sandbox,
        json=json,
        scores=scores,
    )
    raise typer.Exit(perform_demo(asked))
