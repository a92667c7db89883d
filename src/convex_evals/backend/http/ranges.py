"""The `Range` header: which part of a file a client wants."""

import re
from dataclasses import dataclass

_RANGES = re.compile(r"bytes\s*=\s*(.+)", re.IGNORECASE)
_RANGE = re.compile(r"(\d*)\s*-\s*(\d*)")


@dataclass(frozen=True, slots=True)
class ByteRange:
    """`first` and `last` are included."""

    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1


class UnsatisfiableRange(Exception):
    """None of the bytes asked for exists, or they are in several places."""


def parse_range(header: str | None, size: int) -> ByteRange | None:
    """The part of `size` bytes that is wanted; None is all of it, also when the header means nothing.

    Raises UnsatisfiableRange.
    """
    found = _RANGES.fullmatch(header.strip()) if header is not None else None
    if found is None or size == 0:
        return None
    ranges = [part.strip() for part in found[1].split(",")]
    if len(ranges) > 1:
        raise UnsatisfiableRange
    return _parse_one(ranges[0], size)


def _parse_one(text: str, size: int) -> ByteRange | None:
    found = _RANGE.fullmatch(text)
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return _last_bytes(int(found[2]), size)
    first, last = int(found[1]), int(found[2]) if found[2] else size - 1
    if first >= size:
        raise UnsatisfiableRange
    return ByteRange(first, min(last, size - 1)) if first <= last else None


def _last_bytes(count: int, size: int) -> ByteRange:
    if count == 0:
        raise UnsatisfiableRange
    return ByteRange(max(size - count, 0), size - 1)
