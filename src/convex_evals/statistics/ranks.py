"""Who is ahead of whom, and who ties."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from convex_evals.statistics.comparison import SIGNIFICANT, Comparison, compare
from convex_evals.statistics.scores import Score, Tallies, score


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
