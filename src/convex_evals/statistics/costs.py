"""What answers cost and how long they took."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Self


@dataclass(frozen=True, slots=True)
class TotalCost:
    """In US dollars. `unknown` answers are not in it: it is a lower bound then."""

    known: float
    unknown: int

    @classmethod
    def of(cls, costs: Iterable[float | None]) -> Self:
        """Of every answer that was asked for, retries included."""
        given = list(costs)
        return cls(sum(cost for cost in given if cost is not None), sum(cost is None for cost in given))

    @property
    def is_complete(self) -> bool:
        return self.unknown == 0


@dataclass(frozen=True, slots=True)
class Durations:
    """In milliseconds, of answers that were generated; those from a cache are left out."""

    median: float
    p90: float
    count: int


def durations(values: Sequence[float]) -> Durations | None:
    if not values:
        return None
    return Durations(median(values), quantile(sorted(values), 0.9), len(values))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Between neighbours in proportion, as numpy does it."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
