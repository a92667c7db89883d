import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.backend.database.intervals import (
    EVERYTHING,
    Interval,
    IntervalSet,
    after_prefix,
    point,
    prefixed,
    successor,
)


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
