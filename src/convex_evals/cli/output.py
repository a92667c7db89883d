"""How commands print: tables for people, JSON for programs, remarks on standard error."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.core.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

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


def visible(text: str) -> str:
    """The text with control characters shown, not obeyed: what models and their code print is shown as text."""
    return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)


def remark(text: str) -> None:
    print(text, file=sys.stderr)


def count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def console() -> "Console":
    """A console that prints what it is given: no markup, no emoji codes, and no cutting when output is piped."""
    from rich.console import Console

    made = Console(markup=False, emoji=False, highlight=False)
    return made if made.is_terminal else Console(markup=False, emoji=False, highlight=False, width=UNLIMITED_WIDTH)


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
