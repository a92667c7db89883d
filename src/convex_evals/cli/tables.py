"""Tables that fit the terminal without ever breaking an id or a name."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

GAP = "  "
INDENT = "    "
LEAST_FOLDED = 24


@dataclass(frozen=True, slots=True)
class Row:
    cells: tuple[str, ...]
    style: str = ""


@dataclass
class Table:
    """Where it is too wide, headings are abbreviated as `short` says; then the columns of `drop` go, the first of them
    first; then the text of `fold` is broken between words, or stands below its row where the column is too narrow for
    it; and where that is not enough, every row is a paragraph."""

    headings: Sequence[str]
    drop: Sequence[str] = ()
    fold: str | None = None
    short: Mapping[str, str] = field(default_factory=dict)
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
        fixed = {index: self._width(index) for index in columns if self.headings[index] != self.fold}
        room = width - sum(fixed.values()) - len(GAP) * (len(columns) - 1)
        folded = self.headings.index(self.fold) if self.fold is not None else None
        if self._total(columns) <= width:
            yield from self._aligned(columns, {index: self._width(index) for index in columns}, None, width)
        elif folded is not None and folded in columns and room >= 0:
            yield from self._aligned(columns, {**fixed, folded: room if room >= LEAST_FOLDED else 0}, folded, width)
        else:
            yield from self._paragraphs(columns, width)

    def fits(self, width: int) -> bool:
        """Whether every column does, with headings as short as they get."""
        least = self._abbreviated() if self.short else self
        return least._total(range(len(self.headings))) <= width

    def _abbreviated(self) -> "Table":
        headings, drop = ([self.short.get(name, name) for name in names] for names in (self.headings, self.drop))
        return Table(headings, drop, self.fold, rows=self.rows)

    def _columns(self, width: int) -> list[int]:
        columns = list(range(len(self.headings)))
        for name in self.drop:
            if self._total(columns) <= width:
                break
            columns.remove(self.headings.index(name))
        return columns

    def _width(self, column: int) -> int:
        """A heading of groups, which has one cell only, may go on over the columns that are empty."""
        cells = (row.cells[column] for row in self.rows if column or any(row.cells[1:]))
        return max(len(self.headings[column]), *map(len, cells), 0)

    def _total(self, columns: Sequence[int]) -> int:
        return sum(map(self._width, columns)) + len(GAP) * (len(columns) - 1)

    def _aligned(self, columns: Sequence[int], widths: dict[int, int], folded: int | None, width: int) -> Iterator[Row]:
        for row in (Row(tuple(self.headings), "bold"), *self.rows):
            cells = {index: row.cells[index] for index in columns}
            text = "" if folded is None else cells[folded]
            too_long = folded is not None and max(map(len, text.split()), default=0) > widths[folded]
            parts = [""] if folded is None or too_long else _wrapped(text, widths[folded]) or [""]
            for number, part in enumerate(parts):
                shown = dict.fromkeys(columns, "") if number else cells
                if folded is not None:
                    shown[folded] = part
                yield Row((GAP.join(shown[index].ljust(widths[index]) for index in columns).rstrip(),), row.style)
            if too_long and row.cells != tuple(self.headings):
                yield from (Row((line,), row.style) for line in _wrapped(text, width, INDENT))

    def _paragraphs(self, columns: Sequence[int], width: int) -> Iterator[Row]:
        """The first cell, then the others behind their headings; what is empty is left out."""
        for row in self.rows:
            said = [f"{self.headings[index]} {row.cells[index]}" for index in columns[1:] if row.cells[index]]
            lines = textwrap.wrap(
                " · ".join([row.cells[columns[0]], *said]),
                width,
                subsequent_indent=INDENT,
                break_on_hyphens=False,
                break_long_words=False,
            )
            yield from (Row((line,), row.style) for line in lines)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Broken between words only."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
