"""Sets of index keys, kept as sorted, disjoint, half-open intervals of bytes."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """Keys from `start` (included) to `end` (excluded). `end` None is unbounded."""

    start: bytes
    end: bytes | None

    @property
    def is_empty(self) -> bool:
        return self.end is not None and self.end <= self.start

    def contains(self, key: bytes) -> bool:
        return self.start <= key and (self.end is None or key < self.end)


EVERYTHING = Interval(b"", None)


def point(key: bytes) -> Interval:
    return Interval(key, successor(key))


def successor(key: bytes) -> bytes:
    """The smallest key that is larger than `key`."""
    return key + b"\x00"


def prefixed(prefix: bytes) -> Interval:
    """Every key that starts with `prefix`."""
    return Interval(prefix, after_prefix(prefix))


def after_prefix(prefix: bytes) -> bytes | None:
    """The smallest key that is larger than every key starting with `prefix`."""
    shortened = prefix.rstrip(b"\xff")
    return shortened[:-1] + bytes([shortened[-1] + 1]) if shortened else None


class IntervalSet:
    """Intervals that touch are merged, so `len()` is the number of disjoint ones."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[bytes] = []
        self._ends: list[bytes | None] = []  # only the last one may be None

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Interval]:
        return map(Interval, self._starts, self._ends)

    def add(self, interval: Interval) -> None:
        if interval.is_empty:
            return
        start, end = interval
        first = self._first_ending_at_or_after(start)
        last = len(self._starts) if end is None else bisect_right(self._starts, end)
        if first < last:
            start = min(start, self._starts[first])
            end = _later(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def contains(self, key: bytes) -> bool:
        position = bisect_right(self._starts, key) - 1
        if position < 0:
            return False
        end = self._ends[position]
        return end is None or key < end

    def first_of(self, keys: Sequence[bytes]) -> int | None:
        """The position in the sorted `keys` of one that is contained, or None."""
        if len(keys) <= len(self._starts):
            return next((position for position, key in enumerate(keys) if self.contains(key)), None)
        for start, end in zip(self._starts, self._ends, strict=True):
            position = bisect_left(keys, start)
            if position < len(keys) and (end is None or keys[position] < end):
                return position
        return None

    def _first_ending_at_or_after(self, key: bytes) -> int:
        position = bisect_left(self._starts, key)
        if position:
            end = self._ends[position - 1]
            if end is None or end >= key:
                return position - 1
        return position


def _later(one: bytes | None, other: bytes | None) -> bytes | None:
    return None if one is None or other is None else max(one, other)
