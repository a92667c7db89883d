"""How sure we are: pure functions over plain values. What they mean is on docs/statistics.md."""

from convex_evals.statistics.comparison import RESAMPLES, SEED, SIGNIFICANT, Comparison, Needed, Verdict, compare
from convex_evals.statistics.intervals import Interval, wilson_interval
from convex_evals.statistics.ranks import Ranked, holm, rank
from convex_evals.statistics.scores import (
    Durations,
    Flakiness,
    Repeats,
    Score,
    Tallies,
    Tally,
    durations,
    flakiness,
    merged,
    pass_all,
    pass_at,
    quantile,
    repeats,
    score,
    spread,
    total_interval,
)
from convex_evals.statistics.sequential import Look, look, unsettled

__all__ = [
    "RESAMPLES",
    "SEED",
    "SIGNIFICANT",
    "Comparison",
    "Durations",
    "Flakiness",
    "Interval",
    "Look",
    "Needed",
    "Ranked",
    "Repeats",
    "Score",
    "Tallies",
    "Tally",
    "Verdict",
    "compare",
    "durations",
    "flakiness",
    "holm",
    "look",
    "merged",
    "pass_all",
    "pass_at",
    "quantile",
    "rank",
    "repeats",
    "score",
    "spread",
    "total_interval",
    "unsettled",
    "wilson_interval",
]
