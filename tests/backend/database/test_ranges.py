from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.backend.database.ranges import (
    EVERYTHING,
    Bound,
    Interval,
    IntervalSet,
    after_prefix,
    compile_range,
    key_interval,
    point,
    prefixed,
    successor,
)
from convex_evals.backend.database.tables import database_index
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.values import sort_key

INDEX = database_index("", "t", "i", ("a", "b", "_creationTime"))
MORE = "For more information see https://docs.convex.dev/using/indexes."


@pytest.mark.parametrize(
    ("prefix", "expected"), [(b"", None), (b"a", b"b"), (b"a\xff", b"b"), (b"\xff\xff", None), (b"\x00", b"\x01")]
)
def test_the_end_of_a_prefix_is_the_next_key_that_does_not_start_with_it(prefix: bytes, expected: bytes | None) -> None:
    assert after_prefix(prefix) == expected


def test_an_interval_includes_its_start_and_excludes_its_end() -> None:
    interval = Interval(b"b", b"d")
    assert [interval.contains(key) for key in (b"a", b"b", b"c\xff", b"d")] == [False, True, True, False]
    assert EVERYTHING.contains(b"\xff" * 9)
    assert point(b"k").contains(b"k")
    assert not point(b"k").contains(successor(b"k"))
    assert prefixed(b"ab").contains(b"ab\xff\xff")


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ([Interval(b"a", b"b"), Interval(b"b", b"c")], [(b"a", b"c")]),
        ([Interval(b"b", b"c"), Interval(b"a", b"b")], [(b"a", b"c")]),
        ([Interval(b"a", b"b"), Interval(b"c", b"d")], [(b"a", b"b"), (b"c", b"d")]),
        ([Interval(b"a", b"b"), Interval(b"c", b"d"), Interval(b"a", b"z")], [(b"a", b"z")]),
        ([Interval(b"c", None), Interval(b"a", b"d")], [(b"a", None)]),
        ([Interval(b"a", None), Interval(b"c", b"d")], [(b"a", None)]),
        ([Interval(b"c", b"c"), Interval(b"d", b"a")], []),
        ([point(b"a"), point(b"a")], [(b"a", b"a\x00")]),
    ],
)
def test_intervals_that_touch_are_merged(added: list[Interval], expected: list[tuple[bytes, bytes | None]]) -> None:
    intervals = IntervalSet()
    for interval in added:
        intervals.add(interval)
    assert list(intervals) == expected
    assert len(intervals) == len(expected)


KEYS = st.binary(min_size=1, max_size=2).map(lambda key: bytes(byte % 4 for byte in key))

INTERVALS = st.builds(Interval, KEYS, st.none() | KEYS)


@given(st.lists(INTERVALS, max_size=8), st.lists(KEYS, min_size=1, max_size=8, unique=True))
def test_a_set_contains_exactly_what_its_intervals_contain(added: list[Interval], keys: list[bytes]) -> None:
    intervals = IntervalSet()
    for interval in added:
        intervals.add(interval)
    covered = [any(interval.contains(key) for interval in added) for key in keys]
    assert [intervals.contains(key) for key in keys] == covered
    position = intervals.first_of(sorted(keys))
    assert (position is not None) == any(covered)
    assert position is None or intervals.contains(sorted(keys)[position])


def comparisons(*items: tuple[str, str, Any]) -> list[dict[str, Any]]:
    return [{"type": kind, "fieldPath": path, "value": value} for kind, path, value in items]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], Interval(b"", None)),
        ([("Eq", "a", "x")], key_interval(["x"])),
        ([("Eq", "b", 1), ("Eq", "a", "x")], key_interval(["x", 1.0])),
        ([("Eq", "a", "x"), ("Gt", "b", 1)], key_interval(["x"], Bound(1.0, False))),
        ([("Lte", "a", "x"), ("Gte", "a", "b")], key_interval([], Bound("b", True), Bound("x", True))),
        (
            [("Eq", "a", None), ("Eq", "b", None), ("Lt", "_creationTime", 5)],
            key_interval([None, None], None, Bound(5.0, False)),
        ),
        (
            [("Eq", "a", 1), ("Eq", "b", 1), ("Eq", "_creationTime", 1), ("Gt", "_id", "x")],
            key_interval([1.0, 1.0, 1.0], Bound("x", False)),
        ),
    ],
)
def test_a_range_is_an_interval_of_keys(items: list[tuple[str, str, Any]], expected: Interval) -> None:
    assert compile_range(INDEX, comparisons(*items)) == expected


def test_bounds_include_or_exclude_every_key_with_their_value() -> None:
    five = sort_key(5.0)
    inside = key_interval([], Bound(5.0, True), Bound(5.0, True))
    assert inside.contains(five)
    assert inside.contains(five + b"\xff\xff")
    assert key_interval([], Bound(5.0, False), Bound(5.0, True)).is_empty
    assert key_interval([], Bound(6.0, True), Bound(5.0, True)).is_empty
    assert key_interval([], None, Bound(5.0, False)).contains(sort_key(10**9))  # every Int64 is below


@pytest.mark.parametrize(
    ("items", "text"),
    [
        (
            [("Eq", "c", 1)],
            'The index range included a comparison with "c", but t.i with fields ["a", "b", "_creationTime"] '
            f"doesn't index this field. {MORE}",
        ),
        (
            [("Eq", "b", 1)],
            "Tried to query index t.i but the query didn't use the index fields in order.\n"
            'Index fields: ["a", "b", "_creationTime"]\nQuery fields: ["b"]\nFirst incorrect field: "b"\n' + MORE,
        ),
        (
            [("Eq", "a", 1), ("Gt", "_creationTime", 1)],
            "Tried to query index t.i but the query didn't use the index fields in order.\n"
            'Index fields: ["a", "b", "_creationTime"]\nQuery fields: ["a", "_creationTime"]\n'
            'First incorrect field: "_creationTime"\n' + MORE,
        ),
        (
            [("Eq", "a", 1), ("Eq", "a", 2)],
            'Already defined equality bound in index range. Can\'t add "a" == 1.0.',
        ),
        ([("Gt", "a", 1), ("Gt", "a", 5)], 'Already defined lower bound in index range. Can\'t add "a" > 5.0.'),
        ([("Gt", "a", 1), ("Gte", "a", 5)], 'Already defined lower bound in index range. Can\'t add "a" >= 5.0.'),
        ([("Lt", "a", 1), ("Lte", "a", "x")], 'Already defined upper bound in index range. Can\'t add "a" <= "x".'),
        (
            [("Gt", "a", 1), ("Eq", "a", 5)],
            'Already defined inequality bound in index range. Can\'t add "a" == 5.0.',
        ),
        (
            [("Eq", "a", {"$undefined": None}), ("Lt", "a", 5)],
            'Already defined inequality bound in index range. Can\'t add "a" == undefined.',
        ),
        (
            [("Gt", "a", 1), ("Lt", "b", 5)],
            "Upper and lower bounds in `range` can only be applied to a single index field. This query against index "
            't.i attempted to set a range bound on both "a" and "b". Consider using `filter` instead. '
            "See https://docs.convex.dev/using/indexes for more info.",
        ),
    ],
)
def test_ranges_that_an_index_cannot_answer(items: list[tuple[str, str, Any]], text: str) -> None:
    with pytest.raises(DeveloperError) as caught:
        compile_range(INDEX, comparisons(*items))
    assert caught.value.message == text
