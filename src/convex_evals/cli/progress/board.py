"""The state of everything under way, made from events: what the displays show."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from convex_evals.core.verdicts import GATES, STEPS, Status, StepName
from convex_evals.runner import (
    Event,
    Finished,
    Generated,
    Generating,
    Grading,
    Retrying,
    StepFinished,
    Stopping,
    WorkItem,
)

Phase = Literal["generating", "waiting", "grading", "retrying"]


@dataclass
class Row:
    """One eval and trial under way."""

    phase: Phase = "generating"
    steps: dict[StepName, Status] = field(default_factory=dict)


@dataclass
class Board:
    """Counts, and a row for each piece of work that is under way."""

    total: int
    clock: Callable[[], float] = time.monotonic
    rows: dict[WorkItem, Row] = field(default_factory=dict)
    counts: dict[Status, int] = field(default_factory=dict)
    stopping: bool = False
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    def take(self, event: Event) -> None:
        match event:
            case Generating(item):
                self.rows[item] = Row()
            case Generated(item):
                self.rows[item] = Row("waiting")
            case Grading(item):
                self.rows[item] = Row("grading")
            case StepFinished(item, step):
                self.rows[item].steps[step.name] = step.status
            case Retrying(item):
                self.rows[item] = Row("retrying")
            case Finished(item, outcome):
                self.rows.pop(item, None)
                self.counts[outcome.status] = self.counts.get(outcome.status, 0) + 1
            case Stopping():
                self.stopping = True

    @property
    def done(self) -> int:
        return sum(self.counts.values())

    @property
    def in_flight(self) -> int:
        """What is finished even when nothing new is begun."""
        return sum(row.phase != "waiting" for row in list(self.rows.values()))

    @property
    def elapsed(self) -> float:
        return self.clock() - self._started

    @property
    def remaining_seconds(self) -> float | None:
        """At the pace so far; None while there is none."""
        return self.elapsed / self.done * (self.total - self.done) if self.done else None

    def summary(self) -> str:
        parts = [f"{self.done}/{self.total}", *_counted(self.counts)]
        if self.stopping:
            parts.append(f"stopping: {self.in_flight} in progress, Ctrl-C again stops now")
        elif self.remaining_seconds is not None and self.done < self.total:
            parts.append(f"ETA {clock_time(self.remaining_seconds)}")
        return " · ".join([*parts, clock_time(self.elapsed)])


def running_steps(item: WorkItem, row: Row) -> frozenset[StepName]:
    """The steps under way: gates one after the other, then the rest at once."""
    if row.phase != "grading":
        return frozenset()
    gates = GATES[:1] if item.static else GATES
    gate = next((step for step in gates if step not in row.steps), None)
    if gate is not None:
        return frozenset({gate})
    rest = (step for step in STEPS if step not in GATES and not (item.static and step != "tests"))
    return frozenset(step for step in rest if step not in row.steps)


def _counted(counts: dict[Status, int]) -> list[str]:
    words: dict[Status, str] = {"passed": "passed", "failed": "failed", "infrastructure": "without verdict"}
    return [f"{counts[status]} {word}" for status, word in words.items() if counts.get(status)]


def clock_time(seconds: float) -> str:
    """`0:42`, `12:07`, `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
