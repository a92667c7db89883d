"""Scores over time: a line per series, with whiskers and marks for benchmark versions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from markupsafe import Markup

from convex_evals.web.charts import svg
from convex_evals.web.charts.chart import Chart, Scale, between, percent

WIDTH: Final = 640
HEIGHT: Final = 260
LEFT: Final = 56.0
NAMES: Final = 150.0
TOP: Final = 24.0
FOOT: Final = 28.0
KINDS: Final = 6
"""So many ways to draw a line: dashes and marks, so that colour is not needed to tell them apart."""


@dataclass(frozen=True, slots=True)
class Moment:
    at: datetime
    value: float
    low: float | None = None
    high: float | None = None
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    moments: tuple[Moment, ...]


def history_chart(
    title: str, series: Sequence[Series], marks: Sequence[tuple[str, datetime]] = (), value: str = "score"
) -> Chart:
    """`marks` are named points in time; `value` is what the upright axis shows."""
    times = [moment.at.timestamp() for each in series for moment in each.moments]
    x = Scale(min(times, default=0.0), max(times, default=1.0), LEFT, WIDTH - NAMES)
    y = Scale(_floor(series), 1.0, HEIGHT - FOOT, TOP)
    said = "; ".join(f"{each.name} {percent(each.moments[-1].value)} at last" for each in series if each.moments)
    lines = [_series(each, place, x, y) for place, each in enumerate(series) if each.moments]
    drawn = svg.picture(
        WIDTH, HEIGHT, title, said, *_axes(x, y, value), *_marks(marks, x, y), *lines, *_names(series, x, y)
    )
    table = tuple(
        (f"{moment.at:%Y-%m-%d %H:%M}", each.name, percent(moment.value), between(moment.low, moment.high))
        for each in series
        for moment in each.moments
    )
    return Chart(title, drawn, ("finished", "line", value, "95% interval"), table)


def _floor(series: Sequence[Series]) -> float:
    """The axis begins at a round value below all others, so that lines are not pressed together at its top."""
    lowest = min((moment.value for each in series for moment in each.moments), default=0.0)
    return max(0.0, math.floor(lowest * 5 - 0.5) / 5)


def _series(series: Series, place: int, x: Scale, y: Scale) -> Markup:
    kind = f"s{place % KINDS}"
    places = [(x(moment.at.timestamp()), y(moment.value)) for moment in series.moments]
    whiskers = [
        svg.line(left, y(moment.low), left, y(moment.high), "whisker faint")
        for moment, (left, _) in zip(series.moments, places, strict=True)
        if moment.low is not None and moment.high is not None
    ]
    dots = [
        svg.link(moment.href, _dot(series.name, moment, spot, kind))
        for moment, spot in zip(series.moments, places, strict=True)
    ]
    return svg.element("g", *whiskers, svg.path(places, f"trend {kind}"), *dots)


def _dot(name: str, moment: Moment, place: tuple[float, float], kind: str) -> Markup:
    shown = f"{name}, {moment.at:%Y-%m-%d}: {percent(moment.value)}"
    return svg.element("circle", svg.element("title", shown), cx=place[0], cy=place[1], r=3.5, class_=f"point {kind}")


def _names(series: Sequence[Series], x: Scale, y: Scale) -> list[Markup]:
    """At the end of each line, moved apart where they would cover one another."""
    drawn, last = [], -100.0
    for place, each in sorted(enumerate(series), key=lambda pair: -_final(pair[1])):
        if each.moments:
            last = max(y(_final(each)) + 4, last + 13)
            drawn.append(svg.text(x.end + 8, last, each.name, f"name s{place % KINDS}"))
    return drawn


def _final(series: Series) -> float:
    return series.moments[-1].value if series.moments else 0.0


def _axes(x: Scale, y: Scale, value: str) -> list[Markup]:
    across = [svg.line(x.start, y(tick), x.end, y(tick), "grid") for tick in y.ticks(4)]
    left = [svg.text(x.start - 8, y(tick) + 4, f"{tick:.0%}", "tick", "end") for tick in y.ticks(4)]
    days = dict.fromkeys((x.low, x.high))
    anchors = ("start", "end") if len(days) > 1 else ("middle",)
    below = [
        svg.text(x(day), HEIGHT - 8.0, f"{datetime.fromtimestamp(day, UTC):%Y-%m-%d}", "tick", anchor)
        for day, anchor in zip(days, anchors, strict=True)
    ]
    names = [
        svg.text((x.start + x.end) / 2, HEIGHT - 8.0, "finished", "axis", "middle"),
        svg.upright(12, (y.start + y.end) / 2, value, "axis"),
    ]
    return [*across, *left, *below, *names]


def _marks(marks: Sequence[tuple[str, datetime]], x: Scale, y: Scale) -> list[Markup]:
    shown = [(name, x(at.timestamp())) for name, at in marks if x.low <= at.timestamp() <= x.high]
    return [
        svg.element("g", svg.line(place, y.start, place, y.end, "version"), svg.text(place + 3, TOP - 10, name, "tick"))
        for name, place in shown
    ]
