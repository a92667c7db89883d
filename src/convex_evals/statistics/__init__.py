"""How sure we are: pure functions over plain values. What they mean is on docs/statistics.md."""

from convex_evals.statistics.comparison import SIGNIFICANT, Comparison, Needed, Verdict, compare
from convex_evals.statistics.durations import Durations, durations
from convex_evals.statistics.intervals import Interval, wilson_interval
from convex_evals.statistics.ranking import Ranked, holm, rank
from convex_evals.statistics.scores import (
    Flakiness,
    Score,
    Tallies,
    Tally,
    flakiness,
    merged,
    pass_all,
    pass_at,
    score,
    spread,
)

__all__ = [
    "SIGNIFICANT",
    "Comparison",
    "Durations",
    "Flakiness",
    "Interval",
    "Needed",
    "Ranked",
    "Score",
    "Tallies",
    "Tally",
    "Verdict",
    "compare",
    "durations",
    "flakiness",
    "holm",
    "merged",
    "pass_all",
    "pass_at",
    "rank",
    "score",
    "spread",
    "wilson_interval",
]
