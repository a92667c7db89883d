"""Shows on standard error how far the checking is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from convex_evals.cli.output import remark
from convex_evals.controls import Case, Checkup, Findings, Watcher
from convex_evals.pipeline.types import Grade


@contextmanager
def watching(checkups: Sequence[Checkup]) -> Iterator[Watcher]:
    """On a terminal a bar that goes away; elsewhere a line for every eval that is done."""
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        yield _lines(len(checkups))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        yield _bar(progress, sum(len(checkup.cases) for checkup in checkups))


def _lines(total: int) -> Watcher:
    done = 0

    def checked(found: Findings) -> None:
        nonlocal done
        done += 1
        remark(f"{done}/{total}  {'ok' if found.ok else 'not ok'}  {found.eval.id}")

    return Watcher(graded=_ignore, checked=checked)


def _bar(progress: Progress, total: int) -> Watcher:
    task = progress.add_task("grading", total=total)

    def graded(case: Case, grade: Grade) -> None:
        progress.update(task, advance=1, description=f"{case.eval.id}")

    return Watcher(graded=graded, checked=lambda found: None)


def _ignore(case: Case, grade: Grade) -> None:
    pass
