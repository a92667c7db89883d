"""Delta debugging: a smallest subset of a set of changes that is still enough."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Test = Callable[[Sequence[Item]], Awaitable[bool]]


class BoundReached(Exception):
    """No more time, or no more tries."""


@dataclass(frozen=True, slots=True)
class Minimum(Generic[Item]):
    """`complete`: no item can be left out. Otherwise the bound was reached and it may be larger than need be."""

    items: tuple[Item, ...]
    complete: bool


async def minimise(items: Sequence[Item], is_enough: Test[Item]) -> Minimum[Item]:
    """ddmin of Zeller and Hildebrandt. All items together must be enough; put suspects first.

    Ends early with what it has when `is_enough` raises BoundReached.
    """
    current = list(items)
    parts = 2
    try:
        while len(current) > 1:
            smaller = await _smaller(current, parts, is_enough)
            if smaller is not None:
                current, parts = smaller.items, smaller.parts
            elif parts >= len(current):
                break
            else:
                parts = min(len(current), 2 * parts)
    except BoundReached:
        return Minimum(tuple(current), complete=len(current) == 1)
    return Minimum(tuple(current), complete=True)


@dataclass(frozen=True, slots=True)
class _Smaller(Generic[Item]):
    items: list[Item]
    parts: int


async def _smaller(items: list[Item], parts: int, is_enough: Test[Item]) -> _Smaller[Item] | None:
    chunks = _chunks(items, parts)
    for chunk in chunks:
        if await is_enough(chunk):
            return _Smaller(chunk, 2)
    if parts == 2:  # the complements are the chunks themselves
        return None
    for index in range(len(chunks)):
        rest = [item for number, chunk in enumerate(chunks) if number != index for item in chunk]
        if await is_enough(rest):
            return _Smaller(rest, max(parts - 1, 2))
    return None


def _chunks(items: list[Item], parts: int) -> list[list[Item]]:
    size, extra = divmod(len(items), parts)
    chunks, start = [], 0
    for number in range(parts):
        end = start + size + (number < extra)
        chunks.append(items[start:end])
        start = end
    return [chunk for chunk in chunks if chunk]
