"""A strip: results in the order of time, one square each."""

from collections.abc import Sequence

from markupsafe import Markup

from convex_evals.web.charts import svg
from convex_evals.web.charts.heat_map import GAP, SIZE, Cell, square

Tick = Cell
"""One run; `share` of its trials that passed."""


def strip(title: str, ticks: Sequence[Tick]) -> Markup:
    """Oldest first. The page says the numbers beside it."""
    squares = [square(place * (SIZE + GAP), 1.0, tick) for place, tick in enumerate(ticks)]
    width = max(len(ticks) * (SIZE + GAP), SIZE)
    return svg.picture(width, SIZE + 2, title, "; ".join(tick.title for tick in ticks), *squares)
