"""What happens during a run, for whoever watches: the live table, the lines of a log."""

from collections.abc import Callable
from dataclasses import dataclass

from convex_evals.core.steps import StepResult
from convex_evals.runner.work import WorkItem
from convex_evals.scores import Outcome


@dataclass(frozen=True, slots=True)
class Generating:
    item: WorkItem


@dataclass(frozen=True, slots=True)
class Generated:
    item: WorkItem


@dataclass(frozen=True, slots=True)
class Grading:
    item: WorkItem


@dataclass(frozen=True, slots=True)
class StepFinished:
    item: WorkItem
    step: StepResult


@dataclass(frozen=True, slots=True)
class Retrying:
    """Infrastructure trouble: this attempt does not count and another one follows."""

    item: WorkItem
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    item: WorkItem
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Halted:
    """No more work of this run is begun; other runs go on."""

    run: str
    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Stopping:
    """Ctrl-C was pressed once."""


Event = Generating | Generated | Grading | StepFinished | Retrying | Finished | Halted | Stopping
Watcher = Callable[[Event], None]
