"""Charts are checked by their geometry: where things are, and that they say the same as their tables."""

import re
from datetime import UTC, datetime
from itertools import combinations, pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.web.charts import (
    Bar,
    Cell,
    Moment,
    Point,
    Series,
    Tick,
    bar_chart,
    heat_map,
    history_chart,
    pareto,
    scatter_chart,
    strip,
)
from convex_evals.web.charts.chart import Scale
from convex_evals.web.charts.scatter import Anchor, Box, place_names

BARS = (Bar("000-fundamentals", 0.5, 0.25, 0.75, "/category"), Bar("001-data", 1.0, 0.9, 1.0), Bar("002-none", 0.0))
POINTS = (
    Point("cheap", 1.0, 0.5, 0.5, 1.5, 0.4, 0.6),
    Point("dear and worse", 4.0, 0.4),
    Point("best", 8.0, 0.9, 7.0, 9.0, 0.8, 1.0),
)


def drawn(svg: str, kind: str, class_: str) -> list[Element]:
    return [each for each in ElementTree.fromstring(svg).iter(kind) if class_ in each.get("class", "").split()]


def number(element: Element, name: str) -> float:
    return float(element.attrib[name])


def test_a_bar_is_as_long_as_its_value_and_its_whisker_spans_the_interval() -> None:
    svg = bar_chart("Scores", BARS).svg
    half, whole, nothing = drawn(svg, "rect", "value-bar")
    assert number(half, "width") * 2 == pytest.approx(number(whole, "width"), abs=0.2)
    assert number(nothing, "width") == 0
    spans = [each for each in drawn(svg, "line", "whisker") if each.get("y1") == each.get("y2")]
    assert len(spans) == 2
    middle = (number(spans[0], "x1") + number(spans[0], "x2")) / 2
    assert middle == pytest.approx(number(half, "x") + number(half, "width"), abs=0.2)


def test_bars_stand_below_one_another_in_the_order_given() -> None:
    places = [number(each, "y") for each in drawn(bar_chart("Scores", BARS).svg, "rect", "value-bar")]
    assert places == sorted(places)
    assert len({round(b - a, 1) for a, b in pairwise(places)}) == 1


def test_the_table_of_a_chart_has_its_numbers() -> None:
    chart = bar_chart("Scores", BARS)
    assert chart.rows[0] == ("000-fundamentals", "50.0%", "25.0% to 75.0%")
    assert chart.rows[2] == ("002-none", "0.0%", "")


def test_a_chart_is_an_image_or_a_group_of_links_with_a_title_and_a_description_and_without_style() -> None:
    for svg in (bar_chart("A & B", BARS).svg, scatter_chart("A & B", POINTS, "cost", "score").svg):
        root = ElementTree.fromstring(svg)
        role = "group" if root.findall(".//a") else "img"
        assert (root.get("role"), root[0].tag, root[0].text, root[1].tag) == (role, "title", "A & B", "desc")
        assert "style=" not in svg
        assert not re.search(r"(fill|stroke)=\"#", svg)


def test_names_of_models_are_shown_as_text() -> None:
    svg = bar_chart("<script>", [Bar('<img src=x onerror="alert(1)">', 0.5, href='"><script>')]).svg
    assert "<script" not in svg and "<img" not in svg
    assert drawn(svg, "text", "label")[0].text == '<img src=x onerror="alert(1)">'


def test_the_pareto_line_has_those_that_nobody_beats_for_less() -> None:
    assert [each.label for each in pareto(POINTS)] == ["cheap", "best"]
    assert pareto(()) == ()
    twins = (Point("a", 1.0, 0.5), Point("b", 1.0, 0.7))
    assert [each.label for each in pareto(twins)] == ["b"]


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 1)), max_size=12))
def test_nobody_is_above_and_left_of_the_pareto_line(places: list[tuple[float, float]]) -> None:
    points = [Point(str(index), x, y) for index, (x, y) in enumerate(places)]
    front = pareto(points)
    assert all(any(best.x <= each.x and best.y >= each.y for best in front) for each in points)


def test_a_more_expensive_model_is_further_right_and_a_better_one_higher() -> None:
    svg = scatter_chart("Score against cost", POINTS, "cost", "score").svg
    cheap, dear, best = drawn(svg, "circle", "point")
    assert number(cheap, "cx") < number(dear, "cx") < number(best, "cx")
    assert number(best, "cy") < number(cheap, "cy") < number(dear, "cy")
    assert len(drawn(svg, "circle", "front")) == 2
    assert len(drawn(svg, "polyline", "pareto")) == 1


def test_error_bars_cross_in_their_point() -> None:
    svg = scatter_chart("Score against cost", POINTS[:1], "cost", "score").svg
    point = drawn(svg, "circle", "point")[0]
    lines = drawn(svg, "line", "whisker")
    across = max(lines, key=lambda each: number(each, "x2") - number(each, "x1"))
    upright = max(lines, key=lambda each: number(each, "y1") - number(each, "y2"))
    assert number(across, "y1") == number(point, "cy")
    assert number(upright, "x1") == number(point, "cx")


def test_costs_that_are_far_apart_get_a_logarithmic_axis() -> None:
    far = (Point("a", 0.01, 0.5), Point("b", 1.0, 0.5), Point("c", 100.0, 0.5))
    svg = scatter_chart("Score against cost", far, "cost", "score").svg
    places = [number(each, "cx") for each in drawn(svg, "circle", "point")]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.2)
    assert "cost (logarithmic)" in svg


def test_the_shade_is_the_share_and_a_cross_means_zero() -> None:
    cells = [Cell(1.0, "all"), Cell(0.0, "none"), Cell(None, "not run")]
    svg = heat_map("Evals", [("model", cells)], [("000-a", 2), ("001-b", 1)]).svg
    assert [each.get("fill-opacity") for each in drawn(svg, "rect", "square")] == ["1.00", "0.08", None]
    assert len(drawn(svg, "line", "cross")) == 2
    assert len(drawn(svg, "rect", "unknown")) == 1


def test_groups_of_columns_stand_apart() -> None:
    svg = heat_map("Evals", [("model", [Cell(1.0, "")] * 3)], [("000-a", 2), ("001-b", 1)]).svg
    first, second, third = (number(each, "x") for each in drawn(svg, "rect", "square"))
    assert third - second > second - first


def test_a_category_is_named_as_far_as_there_is_room_above_its_columns() -> None:
    groups = [("000-fundamentals", 10), ("005-idioms", 4), ("006-clients", 1)]
    chart = heat_map("Evals", [("model", [Cell(1.0, "")] * 15)], groups)
    named = drawn(chart.svg, "text", "tick")
    assert [each.text for each in named] == ["000-fundamentals", "idioms", "006"]
    assert [each.findtext("title") for each in named] == [name for name, _ in groups]
    ends = [number(each, "x") + 6 * len(each.text or "") for each in named]
    assert all(end < number(after, "x") for end, after in zip(ends, named[1:], strict=False))
    assert number(ElementTree.fromstring(chart.svg), "width") > ends[-1]


def test_more_than_a_hundred_evals_fit_on_a_page() -> None:
    groups = [(f"{place:03}-category", 8) for place in range(13)]
    chart = heat_map("Evals", [("model", [Cell(1.0, "")] * 104)], groups)
    assert number(ElementTree.fromstring(chart.svg), "width") <= 1400


def test_names_cover_no_other_name_and_no_point() -> None:
    anchors = [Anchor(f"vendor/model-{place}", 300.0 + place, 50.0) for place in range(4)]
    dots = [Box(each.x - 6, each.y - 6, each.x + 6, each.y + 6) for each in anchors]
    boxes = place_names(anchors, dots, Box(0.0, 0.0, 640.0, 300.0))
    assert not [pair for pair in combinations([*boxes, *dots[:1]], 2) if pair[0].shared(pair[1])]


def test_no_name_is_struck_through_by_the_line_of_the_best() -> None:
    svg = scatter_chart("Cost", [Point("cheapest-model", 1.0, 0.5), Point("best-model", 4.0, 0.9)], "cost", "score").svg
    (line,) = drawn(svg, "polyline", "pareto")
    corners = [tuple(map(float, place.split(","))) for place in line.get("points", "").split()]
    for name in drawn(svg, "text", "name"):
        width, edge, bottom = 6.4 * len(name.text or ""), number(name, "x"), number(name, "y") + 3
        left = edge - width if name.get("text-anchor") == "end" else edge
        box = Box(left, bottom - 13, left + width, bottom)
        assert not [pair for pair in pairwise(corners) if box.shared(Box(*pair[0], pair[1][0], pair[1][1] + 0.1))]


def test_a_name_stays_inside_the_chart() -> None:
    (box,) = place_names([Anchor("vendor/a-long-name", 10.0, 2.0)], [], Box(0.0, 0.0, 130.0, 90.0))
    assert (box.left, box.top) >= (0.0, 0.0) and box.right <= 130.0


def test_a_strip_goes_from_old_to_new() -> None:
    svg = strip("Last runs", [Tick(1.0, "first", "/a"), Tick(0.0, "second")])
    places = [number(each, "x") for each in drawn(svg, "rect", "square")]
    assert places == sorted(places)
    assert [each.get("href") for each in ElementTree.fromstring(svg).iter("a")] == ["/a"]


def test_history_goes_from_left_to_right_with_versions_marked() -> None:
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 5, 9)]
    moments = tuple(
        Moment(day, value, value - 0.1, value + 0.1) for day, value in zip(days, (0.2, 0.5, 0.4), strict=True)
    )
    chart = history_chart(
        "History", [Series("model", moments)], [("v1", days[1]), ("later", datetime(2027, 1, 1, tzinfo=UTC))]
    )
    dots = drawn(chart.svg, "circle", "point")
    assert [number(each, "cx") for each in dots] == sorted(number(each, "cx") for each in dots)
    assert number(dots[1], "cy") < number(dots[2], "cy") < number(dots[0], "cy")
    marks = drawn(chart.svg, "line", "version")
    assert [number(each, "x1") for each in marks] == [number(dots[1], "cx")]
    assert chart.rows[0] == ("2026-11-01 00:00", "model", "20.0%", "10.0% to 30.0%")


def test_one_moment_and_none_are_drawn_too() -> None:
    one = Series("model", (Moment(datetime(2026, 11, 1, tzinfo=UTC), 0.5),))
    assert len(drawn(history_chart("History", [one]).svg, "circle", "point")) == 1
    assert drawn(history_chart("History", []).svg, "circle", "point") == []


@given(st.floats(0.001, 1000), st.floats(1.001, 10000))
def test_ticks_are_on_the_axis_and_few(low: float, times: float) -> None:
    for scale in (Scale(0.0, low * times, 0.0, 100.0), Scale(low, low * times, 0.0, 100.0, logarithmic=True)):
        ticks = scale.ticks()
        assert all(scale.low * 0.999 <= tick <= scale.high * 1.001 for tick in ticks)
        assert len(ticks) <= 20
