"""The score of a model: what share of the evals it passes, and how sure that is: intervals are at 95 %.

Trials of one eval are not independent of one another, so evals, not trials, are what is counted.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median, stdev
from typing import Final, Literal

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


Method = Literal["Wilson", "t over evals"]


@dataclass(frozen=True, slots=True)
class Tally:
    """The verdicts on one eval: how many of its trials passed. Trials without a verdict are not among them."""

    passed: int
    trials: int

    @property
    def rate(self) -> float:
        return self.passed / self.trials

    @property
    def is_flaky(self) -> bool:
        return 0 < self.passed < self.trials


Tallies = Mapping[str, Tally]
"""By eval; each has at least one trial."""


@dataclass(frozen=True, slots=True)
class Score:
    """`value` is the mean over evals of the eval's pass rate."""

    value: float
    interval: Interval
    method: Method
    evals: int
    trials: int


def score(tallies: Tallies) -> Score | None:
    """None without any verdict."""
    if not tallies:
        return None
    rates = [tally.rate for tally in tallies.values()]
    trials = sum(tally.trials for tally in tallies.values())
    interval, method = _interval(rates, single=trials == len(rates))
    return Score(fmean(rates), interval, method, len(rates), trials)


def _interval(rates: Sequence[float], *, single: bool) -> tuple[Interval, Method]:
    """Rates that are all the same say nothing about how they vary, so such evals count as one trial each."""
    mean = fmean(rates)
    if single or len(rates) < 2 or stdev(rates) == 0:
        return wilson_interval(mean * len(rates), len(rates)), "Wilson"
    margin = t_quantile((1 + CONFIDENCE) / 2, len(rates) - 1) * standard_error(rates)
    return Interval(max(0.0, mean - margin), min(1.0, mean + margin)), "t over evals"


def standard_error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values))


def total_interval(values: Sequence[float]) -> Interval | None:
    """Of the sum of non-negative values, one of each eval: Student's t over evals. None below two."""
    if len(values) < 2:
        return None
    margin = t_quantile((1 + CONFIDENCE) / 2, len(values) - 1) * standard_error(values) * len(values)
    return Interval(max(0.0, sum(values) - margin), sum(values) + margin)


def pass_at(k: int, tallies: Tallies) -> float | None:
    """How often at least one of `k` trials passes, on average over evals; None where an eval has fewer trials."""
    if not tallies or any(tally.trials < k for tally in tallies.values()):
        return None
    return fmean(1 - _share(tally.trials - tally.passed, k, tally.trials) for tally in tallies.values())


def pass_all(k: int, tallies: Tallies) -> float | None:
    """How often all of `k` trials pass (pass^k), on average over evals; None where an eval has fewer trials."""
    if not tallies or any(tally.trials < k for tally in tallies.values()):
        return None
    return fmean(_share(tally.passed, k, tally.trials) for tally in tallies.values())


def _share(some: int, k: int, of: int) -> float:
    """The share of choices of `k` trials that take all from `some`: unbiased, whatever `k` is."""
    return math.comb(some, k) / math.comb(of, k)


@dataclass(frozen=True, slots=True)
class Flakiness:
    """Evals of which trials under the same conditions disagree, among those with more than one trial."""

    flaky: tuple[str, ...]
    repeated: int
    interval: Interval

    @property
    def rate(self) -> float:
        return len(self.flaky) / self.repeated if self.repeated else 0.0


def flakiness(tallies: Tallies) -> Flakiness:
    flaky = tuple(name for name, tally in sorted(tallies.items()) if tally.is_flaky)
    repeated = sum(tally.trials > 1 for tally in tallies.values())
    return Flakiness(flaky, repeated, wilson_interval(len(flaky), repeated))


@dataclass(frozen=True, slots=True)
class Repeats:
    """What several trials of each eval say beyond the score, which is pass@1.

    pass@k and pass^k are over the `evals` that have a verdict on all `trials`.
    """

    trials: int
    evals: int
    pass_at: float
    pass_all: float
    flakiness: Flakiness


def repeats(tallies: Tallies, trials: int) -> Repeats | None:
    """None when no eval has that many, or when that is one."""
    known = {name: tally for name, tally in tallies.items() if tally.trials >= trials}
    at, every = pass_at(trials, known), pass_all(trials, known)
    if trials < 2 or at is None or every is None:
        return None
    return Repeats(trials, len(known), at, every, flakiness(tallies))


def merged(several: Sequence[Tallies]) -> dict[str, Tally]:
    """Runs of the same evals as one: their trials together."""
    together: dict[str, Tally] = {}
    for tallies in several:
        for name, tally in tallies.items():
            before = together.get(name, Tally(0, 0))
            together[name] = Tally(before.passed + tally.passed, before.trials + tally.trials)
    return together


def spread(several: Sequence[Tallies]) -> float | None:
    """The standard deviation between the scores of runs, apart from how sure each of them is; None below two runs."""
    values = [found.value for tallies in several if (found := score(tallies)) is not None]
    return stdev(values) if len(values) > 1 else None


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
    """Interpolates linearly, as numpy does."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


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
