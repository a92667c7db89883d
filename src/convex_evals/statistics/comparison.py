"""Is B better than A, and of many models, who is ahead of whom? Compared eval by eval, on the evals that both have."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any, Final, Literal

from convex_evals.statistics.scores import Interval, Score, Tallies, Tally, Z, score

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

RESAMPLES: Final = 10_000
SEED: Final = 20_260_101
SIGNIFICANT: Final = 0.05
_AT_ONCE: Final = 500  # resamples, which must divide all of them: their places take more room than their counts
_MOST_EXACT: Final = 14  # evals that differ, up to which every assignment of signs is tried

Verdict = Literal["better", "worse", "cannot tell"]
Test = Literal["exact McNemar", "sign-flip permutation"]


@dataclass(frozen=True, slots=True)
class EvidenceNeeded:
    """What it would take to detect a difference of this size. `trials` None: no number of trials would do."""

    trials: int | None
    evals: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`difference` is B's score minus A's. `gained` and `lost` are evals whose pass rate rose and fell from A to B."""

    evals: int
    trials: tuple[int, int]
    difference: float
    interval: Interval
    p: float
    test: Test
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    needed: EvidenceNeeded | None

    @property
    def verdict(self) -> Verdict:
        """Of B. Both the test and the interval must agree."""
        if self.p >= SIGNIFICANT or self.interval.contains(0):
            return "cannot tell"
        return "better" if self.difference > 0 else "worse"


def compare(a: Tallies, b: Tallies) -> Comparison | None:
    """None when they have no eval in common."""
    names = sorted(a.keys() & b.keys())
    if not names:
        return None
    differences = [b[name].rate - a[name].rate for name in names]
    single = all(a[name].trials == b[name].trials == 1 for name in names)
    interval = bootstrap_interval(differences)
    p = mcnemar(differences) if single else sign_flip(differences)
    undecided = p >= SIGNIFICANT or interval.contains(0)
    return Comparison(
        evals=len(names),
        trials=(sum(a[name].trials for name in names), sum(b[name].trials for name in names)),
        difference=fmean(differences),
        interval=interval,
        p=p,
        test="exact McNemar" if single else "sign-flip permutation",
        gained=tuple(name for name, change in zip(names, differences, strict=True) if change > 0),
        lost=tuple(name for name, change in zip(names, differences, strict=True) if change < 0),
        needed=_needed(a, b, names, differences) if undecided else None,
    )


def bootstrap_interval(differences: Sequence[float]) -> Interval:
    """Of the mean: what resampling the evals gives."""
    import numpy

    sums = _product(_resamples(len(differences)), numpy.array(differences))
    low, high = numpy.quantile(sums / len(differences), [0.025, 0.975])
    return Interval(float(low), float(high))


@lru_cache(maxsize=4)  # 200 MB for 10,000 evals
def _resamples(evals: int) -> "NDArray[Any]":
    """How often each eval is in each resample: the same for all comparisons of this many evals."""
    import numpy

    chance = numpy.random.default_rng(SEED)
    counts = numpy.empty((RESAMPLES, evals), numpy.int16)
    for first in range(0, RESAMPLES, _AT_ONCE):
        chosen = chance.integers(0, evals, size=(_AT_ONCE, evals))
        places = chosen + numpy.arange(_AT_ONCE)[:, None] * evals
        counts[first : first + _AT_ONCE] = numpy.bincount(places.ravel(), minlength=chosen.size).reshape(chosen.shape)
    return counts


def _product(rows: "NDArray[Any]", values: "NDArray[float64]") -> "NDArray[float64]":
    """`rows @ values`, without waking the threads of BLAS, which cost more than so small a product."""
    import numpy

    found: NDArray[float64] = numpy.einsum("ij,j->i", rows, values)
    return found


def mcnemar(differences: Sequence[float]) -> float:
    """Exact and two-sided: of the evals that flipped, is one direction more frequent than chance would have it?"""
    up = sum(change > 0 for change in differences)
    flipped = sum(change != 0 for change in differences)
    if flipped == 0:
        return 1.0
    tail: int = sum(math.comb(flipped, k) for k in range(min(up, flipped - up) + 1))
    return float(min(1.0, tail / 2 ** (flipped - 1)))  # integers up to here: floats would overflow


def sign_flip(differences: Sequence[float]) -> float:
    """The share of assignments of signs to the differences whose sum is at least as far from zero as the real one."""
    import numpy

    values = numpy.array([change for change in differences if change != 0])
    if len(values) == 0:
        return 1.0
    if len(values) <= _MOST_EXACT:
        bits = numpy.arange(2 ** len(values))[:, None] >> numpy.arange(len(values)) & 1
        return _share_as_extreme(values, 1 - 2 * bits, 0)
    return _share_as_extreme(values, _signs(len(values)), 1)


@lru_cache(maxsize=64)
def _signs(evals: int) -> "NDArray[Any]":
    """Random ones, the same for all comparisons of this many evals."""
    import numpy

    return numpy.random.default_rng(SEED).choice([-1, 1], size=(RESAMPLES, evals)).astype(numpy.int8)


def _share_as_extreme(values: "NDArray[float64]", signs: "NDArray[Any]", itself: int) -> float:
    """`itself`: the real assignment counts among random ones, so that p is never zero."""
    sums = abs(_product(signs, values))
    extreme = int((sums >= abs(values.sum()) - 1e-12).sum())
    return (extreme + itself) / (len(sums) + itself)


def _needed(a: Tallies, b: Tallies, names: Sequence[str], differences: Sequence[float]) -> EvidenceNeeded | None:
    """More trials only take away what varies within an eval; what differs from eval to eval takes more evals."""
    mean = fmean(differences)
    if mean == 0 or len(names) < 2:
        return None
    wanted = (mean / Z) ** 2  # the variance of the mean difference at which it would just be significant
    total = variance(differences)
    within = fmean(_within(a[name]) + _within(b[name]) for name in names)
    now = fmean((a[name].trials + b[name].trials) / 2 for name in names)
    left = wanted * len(names) - max(0.0, total - within / now)
    trials = math.ceil(within / left) if left > 0 and within > 0 else None
    return EvidenceNeeded(None if trials is None or trials <= now else trials, math.ceil(total / wanted))


def _within(tally: Tally) -> float:
    """The variance of one trial of an eval, from its trials; a single one is taken to vary as much as it can."""
    if tally.trials == 1:
        return 0.25
    return tally.rate * (1 - tally.rate) * tally.trials / (tally.trials - 1)


@dataclass(frozen=True, slots=True)
class Ranked:
    """`best` and `worst` bound the rank: everyone between them ties with someone of the group."""

    name: str
    score: Score
    best: int
    worst: int

    @property
    def rank(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for how many were looked at, in the order given."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, highest = [0.0] * len(values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - place) * values[index]))
        corrected[index] = highest
    return corrected


def rank(models: Mapping[str, Tallies]) -> tuple[Ranked, ...]:
    """Best first. A is ahead of B when the difference is significant among all pairs (Holm) at 5 %."""
    scored = {name: found for name, tallies in models.items() if (found := score(tallies)) is not None}
    ahead = _pairs_ahead({name: models[name] for name in scored})
    ranked = [
        Ranked(
            name,
            found,
            1 + sum((other, name) in ahead for other in scored),
            len(scored) - sum((name, other) in ahead for other in scored),
        )
        for name, found in scored.items()
    ]
    return tuple(sorted(ranked, key=lambda each: (-each.score.value, each.best, each.name)))


def _pairs_ahead(models: Mapping[str, Tallies]) -> set[tuple[str, str]]:
    compared: dict[tuple[str, str], Comparison] = {
        (a, b): found for a, b in combinations(models, 2) if (found := compare(models[b], models[a])) is not None
    }
    corrected = holm([each.p for each in compared.values()])
    return {
        (a, b) if each.difference > 0 else (b, a)
        for ((a, b), each), p in zip(compared.items(), corrected, strict=True)
        if p < SIGNIFICANT
    }
