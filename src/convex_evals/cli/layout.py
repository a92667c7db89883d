"""Text and tables on a screen of some width: lines are broken between words; words, ids and names are never broken."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from convex_evals.core.text import shortened

_WORD: Final = re.compile(r"\s*\S+(?: ·(?= ))?")
"""A dot between two facts stays with the first of them."""
_ITEM: Final = re.compile(r"\s*(?:[-*]|\d+\.) +")
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")
_CODE: Final = "    "
_ALONE: Final = re.compile(r"\s*(?:#|\||<!--|$)")
"""Headings, tables, comments and empty lines of Markdown."""
GAP = "  "
INDENT = "    "
LEAST_FOLDED = 24
LEAST_CUT = 40


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """`indent` begins the first line, `hanging` the others. A word that no line has room for goes on where it is, and
    the terminal breaks it, so that it can still be copied; a new line for it would not help."""
    lines: list[str] = []
    last = indent
    for found in _WORD.finditer(text):
        word, room = found[0].lstrip(), width - len(hanging)
        fits = _column(last, width) + len(found[0]) <= width
        too_long = len(word) > room and len(last) < width // 2
        if (last == indent and not lines) or fits or too_long:
            last += found[0] if last.strip() else word
        else:
            lines.append(last)
            last = f"{hanging}{word}"
    return [*lines, last] if last.strip() else lines


def _column(line: str, width: int) -> int:
    """Where the terminal goes on, if it had to break the line itself."""
    return len(line) if len(line) <= width else len(line) % width or width


def reflowed(text: str, width: int) -> Iterator[str]:
    """Markdown: paragraphs and the items of lists are filled again; code, tables and headings stay as they are."""
    fence, paragraph = "", ""
    for line in text.splitlines():
        code = _FENCE.match(line)
        is_text = not (fence or code or _ALONE.match(line) or (line.startswith(_CODE) and not paragraph))
        if is_text and paragraph and not _ITEM.match(line):
            paragraph += f" {line.strip()}"
            continue
        yield from _filled(paragraph, width)
        paragraph = line if is_text else ""
        yield from [] if is_text else [line]
        if code:
            fence = "" if fence and line.strip().startswith(fence) else fence or code[1]
    yield from _filled(paragraph, width)


def _filled(paragraph: str, width: int) -> list[str]:
    """The other lines of an item begin where its text does."""
    indent = paragraph[: len(paragraph) - len(paragraph.lstrip())]
    item = _ITEM.match(paragraph)
    return wrapped(paragraph.lstrip(), width, indent, " " * len(item[0]) if item else indent)


@dataclass(frozen=True, slots=True)
class Row:
    cells: tuple[str, ...]
    style: str = ""


@dataclass
class Table:
    """Where it is too wide, headings are abbreviated as `short` says; then the columns of `drop` go, empty ones before
    others and the first of them first, until the texts of `cut` have some room, to which they are shortened; then the
    text of `fold` is broken between words, or stands below its row where the column is too narrow for it; and where
    that is not enough, every row is a paragraph."""

    headings: Sequence[str]
    drop: Sequence[str] = ()
    fold: str | None = None
    short: Mapping[str, str] = field(default_factory=dict)
    cut: str | None = None
    rows: list[Row] = field(default_factory=list)

    def add_row(self, *cells: str, style: str = "") -> None:
        missing = len(self.headings) - len(cells)
        self.rows.append(Row((*cells, *[""] * missing), style))

    def lines(self, width: int) -> Iterator[Row]:
        """Rows of one cell: the text of a line, and its style."""
        if self.short and self._total(range(len(self.headings))) > width:
            yield from self._abbreviated().lines(width)
            return
        columns = self._columns(width)
        flexible = next((index for index in columns if self.headings[index] in (self.fold, self.cut)), None)
        fixed = {index: self._width(index) for index in columns if index != flexible}
        room = width - sum(fixed.values()) - len(GAP) * (len(columns) - 1)
        if self._total(columns) <= width:
            yield from self._aligned(columns, {index: self._width(index) for index in columns}, None, width)
        elif flexible is not None and self.headings[flexible] == self.cut and room > 0:
            yield from self._shortened(flexible, room)._aligned(columns, {**fixed, flexible: room}, None, width)
        elif flexible is not None and room >= 0:
            beside = room >= LEAST_FOLDED and self._mostly_fits(flexible, room)
            yield from self._aligned(columns, {**fixed, flexible: room if beside else 0}, flexible, width)
        else:
            yield from self._paragraphs(columns, width)

    def fits(self, width: int) -> bool:
        """Whether every column does, with headings as short as they get."""
        least = self._abbreviated() if self.short else self
        return least._total(range(len(self.headings))) <= width

    def _abbreviated(self) -> "Table":
        headings, drop = ([self.short.get(name, name) for name in names] for names in (self.headings, self.drop))
        return Table(headings, drop, self.fold, cut=self.cut, rows=self.rows)

    def _shortened(self, column: int, room: int) -> "Table":
        cells = (
            [*row.cells[:column], shortened(row.cells[column], room), *row.cells[column + 1 :]] for row in self.rows
        )
        rows = [replace(row, cells=tuple(each)) for row, each in zip(self.rows, cells, strict=True)]
        return Table(self.headings, rows=rows)

    def _mostly_fits(self, column: int, room: int) -> bool:
        """Where many rows have a word that is too long for their column, it looks better to have all texts below."""
        too_long = sum(_longest_word(row.cells[column]) > room for row in self.rows)
        return too_long * 3 <= len(self.rows)

    def _columns(self, width: int) -> list[int]:
        columns = list(range(len(self.headings)))
        for name in sorted(self.drop, key=self._has_content):
            if self._total(columns, least=True) <= width:
                break
            columns.remove(self.headings.index(name))
        return columns

    def _has_content(self, name: str) -> bool:
        column = self.headings.index(name)
        return any(row.cells[column] for row in self.rows)

    def _width(self, column: int) -> int:
        """A heading of groups, which has one cell only, may go on over the columns that are empty."""
        cells = (row.cells[column] for row in self.rows if column or any(row.cells[1:]))
        return max(len(self.headings[column]), *map(len, cells), 0)

    def _total(self, columns: Sequence[int], *, least: bool = False) -> int:
        widths = {index: self._width(index) for index in columns}
        if least and self.cut is not None and (cut := self.headings.index(self.cut)) in widths:
            widths[cut] = min(widths[cut], LEAST_CUT)
        return sum(widths.values()) + len(GAP) * (len(columns) - 1)

    def _aligned(self, columns: Sequence[int], widths: dict[int, int], folded: int | None, width: int) -> Iterator[Row]:
        for row in (Row(tuple(self.headings), "bold"), *self.rows):
            cells = {index: row.cells[index] for index in columns}
            text = "" if folded is None else cells[folded]
            too_long = folded is not None and _longest_word(text) > widths[folded]
            parts = [""] if folded is None or too_long else wrapped(text, widths[folded]) or [""]
            for number, part in enumerate(parts):
                shown = dict.fromkeys(columns, "") if number else cells
                if folded is not None:
                    shown[folded] = part
                yield Row((GAP.join(shown[index].ljust(widths[index]) for index in columns).rstrip(),), row.style)
            if too_long and row.cells != tuple(self.headings):
                yield from (Row((line,), row.style) for line in wrapped(text, width, INDENT, INDENT))

    def _paragraphs(self, columns: Sequence[int], width: int) -> Iterator[Row]:
        """The first cell, then the others behind their headings; what is empty is left out."""
        for row in self.rows:
            said = [f"{self.headings[index]} {row.cells[index]}" for index in columns[1:] if row.cells[index]]
            lines = wrapped(" · ".join([row.cells[columns[0]], *said]), width, hanging=INDENT)
            yield from (Row((line,), row.style) for line in lines)


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)
