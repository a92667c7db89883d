"""Ranges of index keys: half-open intervals of bytes, sets of them, and how `q.eq(…).gt(…)` becomes one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from convex_evals.backend.database.tables import TableIndex
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.values import Undefined, Value, decode_field, display, sort_key

_SYMBOLS: Final = {"Eq": "==", "Gt": ">", "Gte": ">=", "Lt": "<", "Lte": "<="}
_MORE = "For more information see https://docs.convex.dev/using/indexes."


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


class Bound(NamedTuple):
    """`included`: whether keys with exactly this value belong to the range."""

    value: Value | Undefined
    included: bool


class Comparison(NamedTuple):
    type: str
    field: str
    value: Value | Undefined

    def __str__(self) -> str:
        return f'"{self.field}" {_SYMBOLS[self.type]} {display(self.value)}'


@dataclass(slots=True)
class _Range:
    """Comparisons sorted into equalities and at most two bounds on one field."""

    equalities: dict[str, Value | Undefined] = field(default_factory=dict)
    bounded: str | None = None
    lower: Bound | None = None
    upper: Bound | None = None


def compile_range(index: TableIndex, range_json: object) -> Interval:
    if not isinstance(range_json, list):
        raise DeveloperError("Invalid index range: it must be an array of comparisons")
    sorted_range = _sort(index, [_parse_comparison(json) for json in range_json])
    fields = [*sorted_range.equalities, *([sorted_range.bounded] if sorted_range.bounded is not None else [])]
    for name in fields:
        if name not in index.key_fields:
            raise DeveloperError(
                f'The index range included a comparison with "{name}", but {index.named.full_name} with fields '
                f"{_list(index.fields)} doesn't index this field. {_MORE}"
            )
    pinned = _pinned(index, sorted_range)
    misplaced = [name for name in fields if name not in pinned]
    if misplaced and (misplaced != [sorted_range.bounded] or index.key_fields[len(pinned)] != sorted_range.bounded):
        raise DeveloperError(
            f"Tried to query index {index.named.full_name} but the query didn't use the index fields in order.\n"
            f"Index fields: {_list(index.fields)}\nQuery fields: {_list(fields)}\n"
            f'First incorrect field: "{misplaced[0]}"\n{_MORE}'
        )
    return key_interval([sorted_range.equalities[name] for name in pinned], sorted_range.lower, sorted_range.upper)


def key_interval(
    equal: Sequence[Value | Undefined], lower: Bound | None = None, upper: Bound | None = None
) -> Interval:
    """Keys that start with these values, the next one being within the bounds."""
    prefix = b"".join(map(sort_key, equal))
    start: bytes | None = prefix
    end = after_prefix(prefix)
    if lower is not None:
        key = prefix + sort_key(lower.value)
        start = key if lower.included else after_prefix(key)
    if upper is not None:
        key = prefix + sort_key(upper.value)
        end = after_prefix(key) if upper.included else key
    assert start is not None, "a sort key never consists of 0xff only"
    return Interval(start, end)


def _parse_comparison(json: object) -> Comparison:
    match json:
        case {"type": "Eq" | "Gt" | "Gte" | "Lt" | "Lte" as kind, "fieldPath": str(name), "value": value}:
            return Comparison(kind, name, decode_field(value))
        case _:
            raise DeveloperError("Invalid index range: a comparison has a type, a fieldPath and a value")


def _sort(index: TableIndex, comparisons: Sequence[Comparison]) -> _Range:
    result = _Range()
    for comparison in comparisons:
        if comparison.type == "Eq":
            if comparison.field in result.equalities:
                old = comparison._replace(value=result.equalities[comparison.field])
                raise _already_defined("equality", old)
            result.equalities[comparison.field] = comparison.value
        else:
            _add_bound(index, result, comparison)
    if result.bounded in result.equalities:
        equality = Comparison("Eq", result.bounded, result.equalities[result.bounded])
        raise _already_defined("inequality", equality)
    return result


def _add_bound(index: TableIndex, result: _Range, comparison: Comparison) -> None:
    if result.bounded not in (None, comparison.field):
        raise DeveloperError(
            "Upper and lower bounds in `range` can only be applied to a single index field. This query against index "
            f'{index.named.full_name} attempted to set a range bound on both "{result.bounded}" and '
            f'"{comparison.field}". Consider using `filter` instead. '
            "See https://docs.convex.dev/using/indexes for more info."
        )
    result.bounded = comparison.field
    bound = Bound(comparison.value, comparison.type in ("Gte", "Lte"))
    if comparison.type in ("Gt", "Gte"):
        if result.lower is not None:
            raise _already_defined("lower", comparison)
        result.lower = bound
    else:
        if result.upper is not None:
            raise _already_defined("upper", comparison)
        result.upper = bound


def _pinned(index: TableIndex, sorted_range: _Range) -> list[str]:
    """The leading fields of the index that have an equality."""
    pinned: list[str] = []
    for name in index.key_fields:
        if name not in sorted_range.equalities:
            break
        pinned.append(name)
    return pinned


def _already_defined(what: str, comparison: Comparison) -> DeveloperError:
    return DeveloperError(f"Already defined {what} bound in index range. Can't add {comparison}.")


def _list(fields: Sequence[str]) -> str:
    quoted = (f'"{name}"' for name in fields)
    return f"[{', '.join(quoted)}]"
