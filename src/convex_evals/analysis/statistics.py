"""How sure a pass rate is."""

import math
from dataclasses import dataclass
from typing import Final

_Z: Final = 1.959963984540054  # 95 %


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


def wilson_interval(passed: int, total: int) -> Interval:
    """Wilson's score interval at 95 %; everything is possible when nothing was tried."""
    if total == 0:
        return Interval(0.0, 1.0)
    rate, square = passed / total, _Z * _Z
    centre = (rate + square / (2 * total)) / (1 + square / total)
    margin = _Z / (1 + square / total) * math.sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    return Interval(max(0.0, centre - margin), min(1.0, centre + margin))
