"""Score against cost: a point per model with error bars on both axes, and the line of the best for their price."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from markupsafe import Markup

from convex_evals.web.charts import svg
from convex_evals.web.charts.bars import whisker
from convex_evals.web.charts.chart import Chart, Scale, between, percent

CHARACTER: Final = 6.4
LINE: Final = 13.0
BESIDE: Final = 9.0
FURTHEST: Final = 4
"""Lines above and below a point at which a place is looked for."""
WIDTH: Final = 640
HEIGHT: Final = 360
LEFT: Final = 52.0
RIGHT: Final = 18.0
TOP: Final = 14.0
FOOT: Final = 46.0
CAP: Final = 4


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def shared(self, other: "Box") -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)


class Anchor(NamedTuple):
    """A name and the point it belongs to."""

    name: str
    x: float
    y: float


def place_names(anchors: Sequence[Anchor], obstacles: Sequence[Box], frame: Box) -> list[Box]:
    """A box for each name, in the order given. Boxes stay inside the frame."""
    taken, found = list(obstacles), list[Box]()
    for anchor in anchors:
        best = min(_places(anchor, frame), key=lambda place: sum(map(place.shared, taken)))
        taken.append(best)
        found.append(best)
    return found


def _places(anchor: Anchor, frame: Box) -> Iterator[Box]:
    """The nearest first, right before left."""
    width = len(anchor.name) * CHARACTER
    for step in (0.0, *(sign * lines for lines in range(1, FURTHEST + 1) for sign in (-1.0, 1.0))):
        top = min(max(anchor.y - LINE / 2 + step * LINE, frame.top), frame.bottom - LINE)
        for left in (anchor.x + BESIDE, anchor.x - BESIDE - width):
            inside = min(max(left, frame.left), max(frame.right - width, frame.left))
            yield Box(inside, top, inside + width, top + LINE)


@dataclass(frozen=True, slots=True)
class Point:
    """`x` is a cost in US dollars, `y` a share; each may have an interval."""

    label: str
    x: float
    y: float
    x_low: float | None = None
    x_high: float | None = None
    y_low: float | None = None
    y_high: float | None = None
    href: str | None = None


def pareto(points: Sequence[Point]) -> tuple[Point, ...]:
    """Those that no other beats at the same price or less, cheapest first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda each: (each.x, -each.y)):
        if not best or point.y > best[-1].y:
            best.append(point)
    return tuple(best)


def scatter_chart(title: str, points: Sequence[Point], x_name: str, y_name: str) -> Chart:
    x = Scale.around([value for each in points for value in _extent(each)], LEFT, WIDTH - RIGHT)
    y = Scale(_floor(points), 1.0, HEIGHT - FOOT, TOP)
    front = pareto(points)
    said = f"{len(points)} models; the best for their price: {', '.join(each.label for each in front)}"
    marks = [_mark(point, x, y, on_front=point in front) for point in points]
    names = _names(points, x, y)
    drawn = svg.picture(WIDTH, HEIGHT, title, said, *_axes(x, y, x_name, y_name), _front(front, x, y), *marks, *names)
    table = tuple(
        (
            each.label,
            _dollars(each.x),
            "" if each.x_low is None or each.x_high is None else f"{_dollars(each.x_low)} to {_dollars(each.x_high)}",
            percent(each.y),
            between(each.y_low, each.y_high),
            "yes" if each in front else "",
        )
        for each in points
    )
    return Chart(title, drawn, ("model", x_name, "95% interval", y_name, "95% interval", "best for its price"), table)


def _extent(point: Point) -> tuple[float, ...]:
    return tuple(value for value in (point.x, point.x_low, point.x_high) if value is not None)


def _mark(point: Point, x: Scale, y: Scale, *, on_front: bool) -> Markup:
    place_x, place_y = x(point.x), y(point.y)
    parts = []
    if point.x_low is not None and point.x_high is not None:
        parts.append(whisker(x(point.x_low), x(point.x_high), place_y))
    if point.y_low is not None and point.y_high is not None:
        parts.append(_upright(place_x, y(point.y_low), y(point.y_high)))
    shown = f"{point.label}: {percent(point.y)} for {_dollars(point.x)}"
    kind = "point front" if on_front else "point"
    dot = svg.element("circle", svg.element("title", shown), cx=place_x, cy=place_y, r=5, class_=kind)
    return svg.element("g", *parts, svg.link(point.href, dot))


def _upright(x: float, bottom: float, top: float) -> Markup:
    return svg.element(
        "g",
        svg.line(x, bottom, x, top, "whisker"),
        svg.line(x - CAP, bottom, x + CAP, bottom, "whisker"),
        svg.line(x - CAP, top, x + CAP, top, "whisker"),
    )


def _front(front: Sequence[Point], x: Scale, y: Scale) -> Markup:
    corners = _stairs(front, x, y)
    return svg.path(corners, "pareto") if corners else Markup("")


def _stairs(front: Sequence[Point], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """The Pareto front as steps: level until the price of the next better point."""
    corners: list[tuple[float, float]] = []
    for point in front:
        if corners:
            corners.append((x(point.x), corners[-1][1]))
        corners.append((x(point.x), y(point.y)))
    return [*corners, (x.end, corners[-1][1])] if corners else []


def _names(points: Sequence[Point], x: Scale, y: Scale) -> list[Markup]:
    """The best first: they get the nearest places."""
    ordered = sorted(points, key=lambda each: -each.y)
    anchors = [Anchor(each.label, x(each.x), y(each.y)) for each in ordered]
    covered = [box for each in points for box in _covered(each, x, y)]
    covered += [
        Box(min(left, right) - 1, min(top, bottom) - 1, max(left, right) + 1, max(top, bottom) + 1)
        for (left, top), (right, bottom) in pairwise(_stairs(pareto(points), x, y))
    ]
    frame = Box(x.start, y.end, float(WIDTH), y.start)
    placed = zip(anchors, place_names(anchors, covered, frame), strict=True)
    return [_name(anchor, box) for anchor, box in placed]


def _name(anchor: Anchor, box: Box) -> Markup:
    """A name to the left of its point is aligned to end there, however wide its letters are."""
    if box.right < anchor.x:
        return svg.text(box.right, box.bottom - 3, anchor.name, "name", "end")
    return svg.text(box.left, box.bottom - 3, anchor.name, "name")


def _covered(point: Point, x: Scale, y: Scale) -> Iterator[Box]:
    """Where its dot and its error bars are."""
    place_x, place_y = x(point.x), y(point.y)
    yield Box(place_x - 6, place_y - 6, place_x + 6, place_y + 6)
    if point.x_low is not None and point.x_high is not None:
        yield Box(x(point.x_low), place_y - CAP, x(point.x_high), place_y + CAP)
    if point.y_low is not None and point.y_high is not None:
        yield Box(place_x - CAP, y(point.y_high), place_x + CAP, y(point.y_low))


def _floor(points: Sequence[Point]) -> float:
    """The axis begins at a quarter, half or three quarters if no point reaches below it."""
    lowest = min((each.y if each.y_low is None else each.y_low for each in points), default=0.0)
    return min(math.floor(lowest * 4) / 4, 0.75)


def _axes(x: Scale, y: Scale, x_name: str, y_name: str) -> list[Markup]:
    across = [svg.line(x.start, y(tick), x.end, y(tick), "grid") for tick in y.ticks(4)]
    up = [svg.line(x(tick), y.start, x(tick), y.end, "grid") for tick in x.ticks()]
    left = [svg.text(x.start - 8, y(tick) + 4, f"{tick:.0%}", "tick", "end") for tick in y.ticks(4)]
    below = [svg.text(x(tick), y.start + 16, _dollars(tick), "tick", "middle") for tick in x.ticks()]
    scale = f"{x_name} (logarithmic)" if x.logarithmic else x_name
    names = [
        svg.text((x.start + x.end) / 2, HEIGHT - 8, scale, "axis", "middle"),
        svg.upright(12, (y.start + y.end) / 2, y_name, "axis"),
    ]
    return [*across, *up, *left, *below, *names]


def _dollars(amount: float) -> str:
    if amount == 0:
        return "$0"
    return f"${amount:.3g}" if amount < 1 else f"${amount:,.2f}"
