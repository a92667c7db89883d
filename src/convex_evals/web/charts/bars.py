"""Bars with whiskers: shares from 0 to 100 %, one under the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from convex_evals.web.charts import svg
from convex_evals.web.charts.chart import Chart, Scale, between, percent

WIDTH: Final = 640
ROW: Final = 26
THICKNESS: Final = 14
CAP: Final = 4
LABELS: Final = 190
NUMBERS: Final = 56
FOOT: Final = 22


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    value: float
    low: float | None = None
    high: float | None = None
    href: str | None = None


def bar_chart(title: str, bars: Sequence[Bar]) -> Chart:
    scale = Scale(0.0, 1.0, float(LABELS), float(WIDTH - NUMBERS))
    height = len(bars) * ROW + FOOT
    rows = [_row(place, bar, scale) for place, bar in enumerate(bars)]
    said = "; ".join(f"{bar.label} {percent(bar.value)}" for bar in bars)
    drawn = svg.picture(WIDTH, height, title, said, *_grid(scale, height - FOOT), *rows)
    table = tuple((bar.label, percent(bar.value), between(bar.low, bar.high)) for bar in bars)
    return Chart(title, drawn, ("", "score", "95% interval"), table)


def _row(place: int, bar: Bar, scale: Scale) -> Markup:
    middle = place * ROW + ROW / 2
    end = scale(bar.value)
    parts = [
        svg.link(bar.href, svg.text(LABELS - 8, middle + 4, bar.label, "label", "end")),
        svg.element(
            "rect",
            x=scale.start,
            y=middle - THICKNESS / 2,
            width=max(end - scale.start, 0.0),
            height=float(THICKNESS),
            class_="value-bar",
        ),
        svg.text(WIDTH - NUMBERS + 6, middle + 4, percent(bar.value), "value"),
    ]
    if bar.low is not None and bar.high is not None:
        parts.append(whisker(scale(bar.low), scale(bar.high), middle))
    return svg.element("g", *parts, class_="row")


def whisker(left: float, right: float, y: float) -> Markup:
    return svg.element(
        "g",
        svg.line(left, y, right, y, "whisker"),
        svg.line(left, y - CAP, left, y + CAP, "whisker"),
        svg.line(right, y - CAP, right, y + CAP, "whisker"),
    )


def _grid(scale: Scale, bottom: float) -> list[Markup]:
    marks = [svg.line(scale(tick), 0.0, scale(tick), bottom, "grid") for tick in scale.ticks(4)]
    names = [svg.text(scale(tick), bottom + 16, f"{tick:.0%}", "tick", "middle") for tick in scale.ticks(4)]
    return [*marks, *names]
