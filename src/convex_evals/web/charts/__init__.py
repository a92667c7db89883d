"""Charts: pure functions from values to SVG. Colours are classes; `static/charts.css` has them."""

from convex_evals.web.charts.bars import Bar, bar_chart
from convex_evals.web.charts.chart import Chart
from convex_evals.web.charts.heat_map import Cell, Tick, heat_map, strip
from convex_evals.web.charts.history import Moment, Series, history_chart
from convex_evals.web.charts.scatter import Point, pareto, scatter_chart

__all__ = [
    "Bar",
    "Cell",
    "Chart",
    "Moment",
    "Point",
    "Series",
    "Tick",
    "bar_chart",
    "heat_map",
    "history_chart",
    "pareto",
    "scatter_chart",
    "strip",
]
