"""What a run is going to do, written down before it starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convex_evals.core.ids import new_id


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What was asked and how it was graded, hashed apart, so that it is known what a change makes stale.

    `content` and `grader` here sum up the planned evals; each `PlannedEval` has its own.
    """

    suite: str | None = None
    content: str | None = None
    grader: str | None = None
    pipeline: str | None = None
    toolchain: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedEval:
    eval: str  # "002-queries/012-index_and_filter"
    content: str | None = None
    grader: str | None = None


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One model x one experiment x the planned evals x trials. Never changed once it is recorded."""

    model: str
    provider: str
    experiment: str
    evals: tuple[PlannedEval, ...]
    trials: int = 1
    fingerprints: Fingerprints = Fingerprints()
    options: Mapping[str, Any] = field(default_factory=dict)  # whatever JSON can hold
    labels: tuple[str, ...] = ()
    id: str = field(default_factory=new_id, compare=False)

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise ValueError(f"a run has at least one trial, not {self.trials}")
        if len({planned.eval for planned in self.evals}) != len(self.evals):
            raise ValueError("a run plans each eval once; repetitions are trials")
