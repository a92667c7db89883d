"""Chooses how progress is shown."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console

from convex_evals.cli.output import remark
from convex_evals.cli.progress.board import Board
from convex_evals.cli.progress.lines import ProgressLines
from convex_evals.cli.progress.live import LiveTable
from convex_evals.runner import Watcher, WorkItem


@contextmanager
def watching(items: Sequence[WorkItem]) -> Iterator[Watcher]:
    """Shows progress on standard error, so that standard output stays for results."""
    board = Board(total=len(items))
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        yield ProgressLines(items, board, remark)
        return
    with LiveTable(items, board, console) as table:
        yield table
