"""A heat map: rows × columns of shares; and a strip: one row of them, in the order of time.

Shade is the share; a cross is 0, and an empty frame is "not known".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from convex_evals.web.charts import svg
from convex_evals.web.charts.chart import Chart, percent

SIZE: Final = 10.0
GAP: Final = 1.0
LABELS: Final = 180.0
HEAD: Final = 18.0
CHARACTER: Final = 7.0
_NUMBER: Final = re.compile(r"^\d+-(?=.)")


@dataclass(frozen=True, slots=True)
class Cell:
    """`share` None: there is no verdict."""

    share: float | None
    title: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Columns under one name, from `start`; `shown` is what of the name fits above them."""

    name: str
    shown: str
    columns: int
    start: float

    @property
    def width(self) -> float:
        return max(self.columns * (SIZE + GAP), len(self.shown) * CHARACTER)

    @property
    def places(self) -> list[float]:
        return [self.start + number * (SIZE + GAP) for number in range(self.columns)]


def heat_map(title: str, rows: Sequence[tuple[str, Sequence[Cell]]], groups: Sequence[tuple[str, int]]) -> Chart:
    """`groups` names so many columns each, from the left; there is a gap between them."""
    laid = _laid_out(groups)
    columns = [place for group in laid for place in group.places]
    width = LABELS + max((group.start + group.width for group in laid), default=0.0)
    drawn = [
        *(_head(group) for group in laid),
        *(_row(place, name, cells, columns) for place, (name, cells) in enumerate(rows)),
    ]
    said = "; ".join(f"{name}: {_mean(cells)}" for name, cells in rows)
    table = tuple((name, _mean(cells), str(sum(each.share is not None for each in cells))) for name, cells in rows)
    picture = svg.picture(width, HEAD + len(rows) * (SIZE + GAP * 3), title, said, *drawn)
    return Chart(title, picture, ("", "mean", "evals with a verdict"), table)


def square(x: float, y: float, cell: Cell) -> Markup:
    """Legible without colour."""
    known = cell.share is not None
    parts = [
        svg.element(
            "rect",
            svg.element("title", cell.title),
            x=x,
            y=y,
            width=SIZE,
            height=SIZE,
            class_="square" if known else "square unknown",
            fill_opacity=None if cell.share is None else f"{0.08 + 0.92 * cell.share:.2f}",
        )
    ]
    if cell.share == 0:
        parts += [
            svg.line(x + 2.5, y + 2.5, x + SIZE - 2.5, y + SIZE - 2.5, "cross"),
            svg.line(x + SIZE - 2.5, y + 2.5, x + 2.5, y + SIZE - 2.5, "cross"),
        ]
    return svg.link(cell.href, *parts)


def _row(place: int, name: str, cells: Sequence[Cell], columns: Sequence[float]) -> Markup:
    y = HEAD + place * (SIZE + GAP * 3)
    squares = [square(LABELS + x, y, cell) for x, cell in zip(columns, cells, strict=True)]
    return svg.element("g", svg.text(LABELS - 8, y + SIZE - 2, name, "label", "end"), *squares)


def _head(group: Group) -> Markup:
    titled = svg.element("title", group.name)
    return svg.element("text", group.shown, titled, x=LABELS + group.start, y=HEAD - 6, class_="tick")


def _laid_out(groups: Sequence[tuple[str, int]]) -> list[Group]:
    laid, x = list[Group](), 0.0
    for name, count in groups:
        group = Group(name, _fitting(name, count * (SIZE + GAP) + SIZE / 2), count, x)
        laid.append(group)
        x += group.width + SIZE / 2
    return laid


def _fitting(name: str, width: float) -> str:
    """The whole name, else its words, else its number: many evals have to fit, and the table has the names."""
    words, number = _NUMBER.sub("", name), name.partition("-")[0]
    return next((each for each in (name, words) if len(each) * CHARACTER <= width), number)


def _mean(cells: Sequence[Cell]) -> str:
    known = [each.share for each in cells if each.share is not None]
    return percent(sum(known) / len(known)) if known else "no verdict"


Tick = Cell
"""One run; `share` of its trials that passed."""


def strip(title: str, ticks: Sequence[Tick]) -> Markup:
    """Oldest first. The page says the numbers beside it."""
    squares = [square(place * (SIZE + GAP), 1.0, tick) for place, tick in enumerate(ticks)]
    width = max(len(ticks) * (SIZE + GAP), SIZE)
    return svg.picture(width, SIZE + 2, title, "; ".join(tick.title for tick in ticks), *squares)
