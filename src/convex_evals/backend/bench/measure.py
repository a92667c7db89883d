"""Timing things, and what is kept of it."""

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds."""

    count: int
    median: float
    p99: float
    total: float

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> "Timings":
        ordered = sorted(milliseconds)
        p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
        return cls(len(ordered), statistics.median(ordered), p99, sum(ordered))

    def to_json(self) -> dict[str, object]:
        return {
            "count": self.count,
            "medianMs": round(self.median, 3),
            "p99Ms": round(self.p99, 3),
            "totalMs": round(self.total, 3),
        }


async def timed(times: int, act: Callable[[int], Awaitable[object]], *, warm_up: int = 0) -> Timings:
    """Calls `act(n)` again and again, one after the other; the first `warm_up` calls are not counted."""
    found = []
    for n in range(-warm_up, times):
        start = time.perf_counter()
        await act(n)
        if n >= 0:
            found.append((time.perf_counter() - start) * 1000)
    return Timings.of(found)
