"""How commands print: tables for people, JSON for programs, remarks on standard error."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.core.errors import UsageError
from convex_evals.core.wording import count, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["console", "count", "print_json", "print_table", "remark", "table", "visible", "write_json"]

UNLIMITED_WIDTH = 10_000


def print_json(value: object) -> None:
    write_json(value, "-")


def write_json(value: object, destination: str) -> None:
    """Writes JSON to a file; `-` is standard output."""
    text = json.dumps(value, indent=2) + "\n"
    if destination == "-":
        print(text, end="")
        return
    try:
        Path(destination).write_text(text)
    except OSError as error:
        raise UsageError(f"The JSON cannot be written to {destination!r}: {error.strerror}.") from error


def remark(text: str) -> None:
    print(text, file=sys.stderr)


def console(*, stderr: bool = False) -> "Console":
    """A console that prints what it is given: no markup, no emoji codes, and no cutting when output is piped."""
    from rich.console import Console

    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = UNLIMITED_WIDTH
    return made


def print_table(rows: "Table") -> None:
    for line in table_lines(rows):
        print(line)


def table_lines(rows: "Table") -> list[str]:
    """The lines of a table without the blanks that would fill its last column."""
    out = console()
    with out.capture() as capture:
        out.print(rows)
    return [line.rstrip() for line in capture.get().splitlines()]


def table(headings: Sequence[str]) -> "Table":
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made
