"""Confidence intervals at 95 %, and the distributions behind them."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Final

CONFIDENCE: Final = 0.95
Z: Final = 1.959963984540054
_STEPS: Final = 200
_TINY: Final = 1e-300


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high


def wilson_interval(passed: float, total: int) -> Interval:
    """Wilson's score interval of a proportion; everything is possible when nothing was tried."""
    if total == 0:
        return Interval(0.0, 1.0)
    rate, square = passed / total, Z * Z
    centre = (rate + square / (2 * total)) / (1 + square / total)
    margin = Z / (1 + square / total) * math.sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    return Interval(max(0.0, centre - margin), min(1.0, centre + margin))


@cache
def t_quantile(probability: float, degrees: int) -> float:
    """The value below which Student's t falls with this probability (at least one half)."""
    low, high = 0.0, 1.0
    while t_distribution(high, degrees) < probability:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if t_distribution(middle, degrees) < probability else (low, middle)
    return high


def t_distribution(value: float, degrees: int) -> float:
    """The probability that Student's t is at most `value`, which is not negative."""
    return 1 - incomplete_beta(degrees / 2, 0.5, degrees / (degrees + value * value)) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logarithm) * _continued_fraction(a, b, x) / a


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Lentz's method."""
    c, d = 1.0, 1 / (_not_zero(1 - (a + b) * x / (a + 1)))
    fraction = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _not_zero(1 + step * d)
            c = _not_zero(1 + step / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return fraction


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
