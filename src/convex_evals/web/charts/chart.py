"""A chart with the numbers that it shows, and the scale that turns values into places on an axis."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from markupsafe import Markup

STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
WIDE: Final = 20.0
"""Values that differ by at least this factor are shown on a logarithmic axis."""


@dataclass(frozen=True, slots=True)
class Scale:
    """`low` and `high` are values, `start` and `end` the places they have."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    @classmethod
    def around(cls, values: list[float], start: float, end: float) -> Self:
        """An axis from zero, or a logarithmic one if the values are far apart."""
        known = [value for value in values if value > 0] or [1.0]
        low, high = min(known), max(known)
        if len(known) == len(values) and high / low >= WIDE:
            return cls(low / 1.3, high * 1.3, start, end, logarithmic=True)
        return cls(0.0, high * 1.08, start, end)

    def __call__(self, value: float) -> float:
        """Values beyond the axis are placed at its end."""
        turn: Callable[[float], float] = math.log if self.logarithmic else float
        low, high = turn(self.low), turn(self.high)
        bounded = min(max(value, self.low), self.high)
        share = (turn(bounded) - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self, wanted: int = 5) -> tuple[float, ...]:
        return self._powers() if self.logarithmic else self._steps(wanted)

    def _steps(self, wanted: int) -> tuple[float, ...]:
        rough = (self.high - self.low) / wanted
        if rough <= 0:
            return (self.low,)
        magnitude = 10 ** math.floor(math.log10(rough))
        step = next(each * magnitude for each in STEPS if each * magnitude >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(round(number * step, 10) for number in range(first, last + 1))

    def _powers(self) -> tuple[float, ...]:
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = [round(digit * 10.0**exponent, 10) for exponent in exponents for digit in (1, 3)]
        return tuple(each for each in found if self.low <= each <= self.high)


@dataclass(frozen=True, slots=True)
class Chart:
    """`headings` and `rows` are the same numbers as a table, for readers who cannot or do not want to use the chart."""

    title: str
    svg: Markup
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def percent(share: float) -> str:
    return f"{share:.1%}"


def between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{percent(low)} to {percent(high)}"
