"""`convex-evals runs`: decisions about runs, each recorded with who made it and why."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import Author, Run, Scores, Why
from convex_evals.cli.output import print_lines
from convex_evals.cli.tree import Commands

if TYPE_CHECKING:
    from convex_evals.scores import RunDecision, ScoresStore

Label = Annotated[str, typer.Argument(metavar="LABEL", help="A word, such as baseline.")]

runs = Commands()


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
