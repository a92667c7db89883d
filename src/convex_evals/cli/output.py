"""How commands print: tables for people, JSON for programs, remarks on standard error."""

import csv
import io
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

from convex_evals.cli.characters import drawn
from convex_evals.cli.tables import Table
from convex_evals.core.distribution import as_invoked, invoked_name
from convex_evals.core.errors import UsageError
from convex_evals.core.wording import count, visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "console",
    "count",
    "csv_text",
    "escaped",
    "markdown_table",
    "print_json",
    "print_lines",
    "print_table",
    "print_text",
    "remark",
    "table",
    "visible",
    "write_json",
    "write_text",
]

UNLIMITED_WIDTH = 10_000
_COMMAND = re.compile(r"`[^`]+`")
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
    for line in (drawn(as_invoked(each), out) for each in lines):
        print(_fitted(line, out, hanging), file=out)
    out.flush()  # whoever reads a pipe while the command goes on waits for it


def print_text(text: str) -> None:
    """What people and models wrote: broken between words on a terminal, word for word into a file or a pipe."""
    if sys.stdout.isatty():
        for line in visible(text).rstrip("\n").split("\n"):
            print(_fitted(line, sys.stdout, hanging=0))
    else:
        write_text(text if text.endswith("\n") else f"{text}\n", "-")


def _fitted(line: str, out: TextIO, hanging: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + hanging)
    width = shutil.get_terminal_size().columns if out.isatty() else UNLIMITED_WIDTH
    return _filled(line, width, indent) if len(line) > width else line


def _filled(line: str, width: int, indent: str) -> str:
    """Command lines stay whole, so that they can be copied."""
    if line.lstrip().startswith(f"{invoked_name()} "):
        return line
    whole = _COMMAND.sub(lambda found: found[0].replace(" ", _HELD), line)
    return textwrap.fill(
        whole,
        width,
        subsequent_indent=indent,
        replace_whitespace=False,
        break_on_hyphens=False,
        break_long_words=False,
    ).replace(_HELD, " ")


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
) -> Table:
    return Table(headings, drop, fold, short)
