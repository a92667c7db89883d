"""How long answers took."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


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
