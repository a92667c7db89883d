"""How often something may be done: buckets that fill again with time, one per whoever does it."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final

MOST_KEYS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` at once, and `per_second` in the long run."""

    burst: float
    per_second: float


@dataclass(slots=True)
class Throttle:
    """Remembers those who came last; whoever was not seen for long has a full bucket anyway."""

    rate: Rate
    clock: Callable[[], float] = time.monotonic
    _levels: OrderedDict[Hashable, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, key: Hashable) -> int:
        """Whole seconds until it may be done again; 0: now."""
        missing = 1 - self._level(key)
        return math.ceil(missing / self.rate.per_second) if missing > 0 else 0

    def take(self, key: Hashable) -> None:
        self._levels[key] = (self._level(key) - 1, self.clock())
        self._levels.move_to_end(key)
        if len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)

    def _level(self, key: Hashable) -> float:
        level, since = self._levels.get(key, (self.rate.burst, self.clock()))
        return min(self.rate.burst, level + (self.clock() - since) * self.rate.per_second)
