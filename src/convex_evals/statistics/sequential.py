"""Trial by trial until comparisons are decided: what a look decides, and which evals deserve another trial.

Looking again and again finds differences that are not there, so the 5 % are shared evenly among the looks that there
may be (Bonferroni), and at each look among the pairs (Holm). Whatever the looks have to do with one another, the chance
that any of the decisions is wrong stays below 5 %.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from convex_evals.statistics.comparison import SIGNIFICANT, Comparison, Verdict, compare, holm
from convex_evals.statistics.scores import Tallies, Tally

AGREED: Final = 3
"""An eval is settled when this many trials of both models together agree."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Look:
    """One pair at one look. `p` is corrected for the number of pairs, and must be below `level`."""

    pair: Pair
    number: int
    comparison: Comparison
    p: float
    level: float
    varies: bool
    """Whether another trial may have another outcome, judging by the trials so far."""

    @property
    def verdict(self) -> Verdict:
        """Of the second."""
        if self.p >= self.level or self.comparison.interval.contains(0):
            return "cannot tell"
        return "better" if self.comparison.difference > 0 else "worse"

    @property
    def is_hopeless(self) -> bool:
        """Whether no number of trials would tell: what differs from eval to eval takes more evals."""
        needed, single = self.comparison.needed, self.comparison.test == "exact McNemar"
        return not self.varies or (not single and needed is not None and needed.trials is None)


def look(models: Mapping[str, Tallies], pairs: Sequence[Pair], number: int, looks: int) -> tuple[Look, ...]:
    """What the verdicts so far say about each pair that shares an eval, at the `number`-th of at most `looks`."""
    compared = [(pair, found) for pair in pairs if (found := compare(models[pair[0]], models[pair[1]])) is not None]
    corrected = holm([found.p for _, found in compared])
    level = SIGNIFICANT / looks
    return tuple(
        Look(pair, number, found, p, level, _varies(models[pair[0]], models[pair[1]]))
        for (pair, found), p in zip(compared, corrected, strict=True)
    )


def unsettled(a: Tallies, b: Tallies) -> tuple[str, ...]:
    """Shared evals of which another trial may change something: their trials do not all say the same.

    It does not depend on who is a and who is b, so that the test of the difference stays exact: if both are alike, a
    difference in one direction is as likely as in the other. Evals that are settled count as no difference, which makes
    the difference of models that differ a little too small, never too large.
    """
    shared = sorted(a.keys() & b.keys())
    return tuple(name for name in shared if not _is_settled(a[name], b[name]))


def _is_settled(a: Tally, b: Tally) -> bool:
    return not _may_vary(a, b) and a.rate == b.rate


def _varies(a: Tallies, b: Tallies) -> bool:
    return any(_may_vary(a[name], b[name]) for name in a.keys() & b.keys())


def _may_vary(a: Tally, b: Tally) -> bool:
    return a.is_flaky or b.is_flaky or a.trials + b.trials < AGREED
