"""How commands print: tables for people, JSON for programs, remarks on standard error."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from convex_evals.core.errors import UsageError
from convex_evals.core.wording import count, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["console", "count", "print_json", "print_lines", "print_table", "remark", "table", "visible", "write_json"]

UNLIMITED_WIDTH = 10_000
NARROW = 1.4
"""A table may be so many times as wide as the terminal; its cells are folded then."""


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


def print_lines(lines: Iterable[str], out: TextIO | None = None) -> None:
    """Lines for people. On a terminal they are broken between words, and go on a little further to the right."""
    out = out or sys.stdout
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        width = shutil.get_terminal_size().columns if out.isatty() else UNLIMITED_WIDTH
        if len(line) > width:
            line = textwrap.fill(
                line, width, subsequent_indent=indent, replace_whitespace=False, break_on_hyphens=False
            )
        print(line, file=out)


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
    """The lines of a table without the blanks that would fill its last column.

    Where a terminal is far too narrow for it, every row is a paragraph instead.
    """
    out = console()
    if out.is_terminal and out.measure(rows, options=out.options.update(max_width=UNLIMITED_WIDTH)).maximum > (
        NARROW * out.width
    ):
        return list(_paragraphs(rows, out.width))
    with out.capture() as capture:
        out.print(rows)
    return [line.rstrip() for line in capture.get().splitlines()]


def _paragraphs(rows: "Table", width: int) -> Iterator[str]:
    """The first cell, then the others behind their headings; what is empty is left out."""
    names = [str(column.header) for column in rows.columns]
    for cells in zip(*(column.cells for column in rows.columns), strict=True):
        first, *others = (str(cell) for cell in cells)
        said = [f"{name} {cell}" for name, cell in zip(names[1:], others, strict=True) if cell]
        yield from textwrap.wrap(" · ".join([first, *said]), width, subsequent_indent="    ", break_on_hyphens=False)


def table(headings: Sequence[str]) -> "Table":
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made
