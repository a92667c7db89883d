"""How commands print: tables for people, JSON for programs, remarks on standard error."""

import csv
import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TextIO

from convex_evals.cli.characters import drawn
from convex_evals.cli.layout import Table, reflowed, wrapped
from convex_evals.core.distribution import as_invoked, invoked_name
from convex_evals.core.errors import UsageError
from convex_evals.core.text import count, visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "GIVEN",
    "as_typed",
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
    "progress_bar",
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
REPEATED: Final = {"--scores": "URL", "--evals": "DIR"}
"""By name, and what is its value: elsewhere `--evals` is a number or a name."""
_IN_TEXT: Final = re.compile(r"`convex-evals ([^`\n]+)`")
_WHOLE_LINE: Final = re.compile(r"^ *(?:\d\. )?convex-evals (\S[^\n]*)$", re.MULTILINE)


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


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yields a function that takes how much is done, and the total. Shows nothing where there is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    out = console(stderr=True)
    if not out.is_terminal or out.is_dumb_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


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


class Given:
    """The options of this command that hints repeat, and all commands, which say which of them take these."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}
        self.tree: Any = None

    def remember(self, context: Any) -> None:
        """Call for every command and group whose options are read, from the outermost on."""
        if context.parent is None:
            self.options, self.tree = {}, context.command
        for parameter in context.command.params:
            value = context.params.get(parameter.name)
            if value is not None and _is_repeated(parameter):
                self.options[parameter.opts[0]] = str(value)

    def missing(self, words: str) -> str:
        """What to append to a command line."""
        if not self.options or "--help" in words:
            return ""
        known = self._options_of(words.split())
        lacks = (name for name in REPEATED if name in self.options and name in known and name not in words)
        return "".join(f" {name} {shlex.quote(self.options[name])}" for name in lacks)

    def _options_of(self, words: list[str]) -> set[str]:
        command = self.tree
        for word in words:
            commands = getattr(command, "commands", {})
            command = commands.get(word) or (commands.get("run") if commands else None)
            if not getattr(command, "commands", None):
                break
        return {each.opts[0] for each in getattr(command, "params", ()) if _is_repeated(each)}


def _is_repeated(parameter: Any) -> bool:
    return bool(REPEATED.get(parameter.opts[0], "") == parameter.metavar)


GIVEN: Final = Given()


def as_typed(text: str) -> str:
    """The text with command lines as they must be typed here, so that whoever copies one gets what it is about.

    They have the name that works here, and the scores and the suite that this command was given: `convex-evals show
    0a1b2c3d` finds the run that the message names.
    """
    text = _IN_TEXT.sub(lambda found: f"`convex-evals {found[1]}{GIVEN.missing(found[1])}`", text)
    text = _WHOLE_LINE.sub(lambda found: f"{found[0]}{GIVEN.missing(found[1])}", text)
    return as_invoked(text)
