"""`convex-evals new-eval`: something to begin an eval with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import EvalsFolder

if TYPE_CHECKING:
    from convex_evals.controls import Scaffold


def new_eval(
    category: Annotated[
        str, typer.Argument(metavar="CATEGORY", help="An existing category (queries, 002, 002-queries) or a new one.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="A word; the next free number is prefixed.")],
    evals: EvalsFolder = None,
) -> None:
    """Create an eval that validates, with its controls.

    Start from its small example about authors and notes, and make the task, the answer and the grader yours.
    Nothing is overwritten.
    """
    from convex_evals.controls import plan_eval, suite_for_writing

    suite = suite_for_writing(evals)
    scaffold = plan_eval(suite, category, name)
    scaffold.write()
    _say(scaffold, suite, evals)


def _say(scaffold: "Scaffold", suite: Path, evals: Path | None) -> None:
    for path in sorted(scaffold.files):
        typer.echo(_from_here(path))
    place, option = _from_here(suite / scaffold.category / scaffold.name), f" --evals {evals}" if evals else ""
    chosen = f"-f {scaffold.category}/{scaffold.name}{option}"
    typer.echo(
        f"\nNow change it into what you want to ask:\n"
        f"  1. {place}/TASK.txt, answer/ and grader.py\n"
        f"  2. convex-evals validate {chosen}\n"
        f"  3. the wrong and the alternative answers below controls/\n"
        f"  4. convex-evals controls {chosen} --mutate\n"
        f"docs/writing-evals.md says what makes a good one."
    )


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
