"""`convex-evals controls`: do the graders tell right from wrong?"""

import typer

from convex_evals.cli.options import Categories, EvalsFolder, Filter, Jobs, JsonFile, Names


def controls(
    category: Categories = None,
    filter: Filter = None,
    name: Names = None,
    evals: EvalsFolder = None,
    jobs: Jobs = None,
    json: JsonFile = None,
) -> None:
    """Check graders with answers whose verdict is known.

    The reference answer must pass, an empty project must fail, each wrong control must fail at its step and test, each
    alternative must pass. Nothing is stored. The exit code is 1 when one is judged otherwise or a control is broken.
    """
    from convex_evals.cli.controls.performing import Asked, perform
    from convex_evals.suite import Selection

    asked = Asked(Selection(category or (), filter, name or ()), evals, jobs, json)
    raise typer.Exit(perform(asked))
