"""How commands print: tables for people, JSON for programs, remarks on standard error."""

import csv
import io
import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

from convex_evals.cli.characters import drawn
from convex_evals.cli.hints import as_typed
from convex_evals.cli.layout import Table, reflowed, wrapped
from convex_evals.core.distribution import invoked_name
from convex_evals.core.errors import UsageError
from convex_evals.core.text import count, visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "console",
    "count",
    "csv_text",
    "escaped",
    "fitted",
    "markdown_table",
    "print_json",
    "print_lines",
    "print_table",
    "print_text",
    "remark",
    "table",
    "table_lines",
    "visible",
    "write_json",
    "write_text",
]

UNLIMITED_WIDTH = 10_000
_COMMAND = re.compile(r"`[^`]+`")
SHELL = "$ "
"""Begins a command line of the shell."""
_HELD = "\0"
"""Stands for a blank at which no line is broken."""
NOTHING_SHORTER: Mapping[str, str] = MappingProxyType({})


def print_json(value: object) -> None:
    write_json(value, "-")


def write_json(value: object, destination: str) -> None:
    write_text(json.dumps(value, indent=2) + "\n", destination)


def write_text(text: str, destination: str) -> None:
    """Writes to a file; `-` is standard output."""
    if destination == "-":
        _write_data(text)
        return
    try:
        Path(destination).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The results cannot be written to {destination!r}: {error.strerror}.") from error


def _write_data(text: str) -> None:
    """What programs read is UTF-8, whatever the terminal can show."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        print(text, end="", flush=True)
        return
    sys.stdout.flush()
    buffer.write(text.encode())
    buffer.flush()


def csv_text(headings: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """What is None is empty."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([headings, *rows])
    return text.getvalue()


def markdown_table(headings: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Whatever is in a cell stays text."""
    lines = [headings, ["---"] * len(headings), *([escaped(str(cell)) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def escaped(text: str) -> str:
    for character in "\\`*_{}[]<>#|":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")


def remark(text: str) -> None:
    print_lines([text], sys.stderr)


def print_lines(lines: Iterable[str], out: TextIO | None = None, hanging: int = 4) -> None:
    """Lines for people. On a terminal they are broken between words, and go on a little further to the right."""
    out = out or sys.stdout
    width = shutil.get_terminal_size().columns if out.isatty() else UNLIMITED_WIDTH
    for line in lines:
        print("\n".join(fitted(drawn(as_typed(line), out), width, " " * hanging)), file=out)
    out.flush()  # whoever reads a pipe while the command goes on waits for it


def print_text(text: str) -> None:
    """Markdown that someone wrote: filled to the width of a terminal, word for word into a file or a pipe."""
    if sys.stdout.isatty():
        for line in reflowed(visible(text), shutil.get_terminal_size().columns):
            print(line)
    else:
        write_text(text if text.endswith("\n") else f"{text}\n", "-")


def fitted(line: str, width: int, hanging: str = "") -> list[str]:
    """The line broken between words, what follows the first part of it further to the right. Command lines stay whole,
    so that they can be copied."""
    if len(line) <= width or line.lstrip().startswith((f"{invoked_name()} ", SHELL)):
        return [line]
    whole = _COMMAND.sub(lambda found: found[0].replace(" ", _HELD), line)
    indent = " " * (len(line) - len(line.lstrip()))
    return [each.replace(_HELD, " ") for each in wrapped(whole.lstrip(), width, indent, indent + hanging)]


def console(*, stderr: bool = False) -> "Console":
    """A console that prints what it is given: no markup, no emoji codes, and no cutting when output is piped."""
    from rich.console import Console

    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = UNLIMITED_WIDTH
    return made


def print_table(rows: Table) -> None:
    from rich.text import Text

    out = console()
    for row in _drawn(rows).lines(out.width):
        out.print(Text(row.cells[0], style=row.style), soft_wrap=True)


def table_lines(rows: Table) -> list[str]:
    return [row.cells[0] for row in _drawn(rows).lines(console().width)]


def _drawn(rows: Table) -> Table:
    """Signs may become longer, so they are replaced before columns are measured."""
    return replace(rows, rows=[replace(row, cells=tuple(map(drawn, row.cells))) for row in rows.rows])


def table(
    headings: Sequence[str],
    drop: Sequence[str] = (),
    fold: str | None = None,
    short: Mapping[str, str] = NOTHING_SHORTER,
    cut: str | None = None,
) -> Table:
    return Table(headings, drop, fold, short, cut)
