"""How much a pass rate changes, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SAMPLES: Final = 10_000
SEED: Final = 0
CONFIDENCE: Final = 0.95
METHOD: Final = (
    f"Change: the pass rate less that with all sections, per eval over its trials, and then the mean over the evals "
    f"that have a verdict in both. Interval: {CONFIDENCE:.0%}, paired bootstrap over these evals, {SAMPLES:,} samples "
    f"with seed {SEED}, percentiles. It says nothing about other evals or other models."
)


@dataclass(frozen=True, slots=True)
class Change:
    """Between -1 and 1. `low` and `high` are the ends of the interval, `evals` how many were compared."""

    mean: float
    low: float
    high: float
    evals: int

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves no doubt about the direction."""
        return self.low > 0 or self.high < 0


def paired_change(before: Mapping[str, float], after: Mapping[str, float]) -> Change | None:
    """From pass rates by eval. None when no eval is in both."""
    import numpy

    names = sorted(before.keys() & after.keys())
    if not names:
        return None
    differences = numpy.array([after[name] - before[name] for name in names])
    chosen = numpy.random.default_rng(SEED).integers(0, len(names), size=(SAMPLES, len(names)))
    means = differences[chosen].mean(axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = numpy.quantile(means, [tail, 1 - tail])
    return Change(float(differences.mean()), float(low), float(high), len(names))
