"""What is to be done for a run, one item per eval and trial, and what happens to it while others watch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from convex_evals.core.steps import StepResult
from convex_evals.models import Model, StoredGeneration
from convex_evals.pipeline import GradingOptions
from convex_evals.scores import Outcome, RunStatus
from convex_evals.suite import Eval, Pipeline


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One eval and trial of a run. With `stored` the model is not asked."""

    run: str
    model: str
    experiment: str
    eval: Eval
    trial: int
    stored: StoredGeneration | None = None

    @property
    def static(self) -> bool:
        """Whether only its files are graded."""
        return self.eval.pipeline is Pipeline.STATIC


@dataclass(frozen=True, slots=True)
class Halt:
    """Why nothing more of a run is begun, and what the run is called then."""

    status: RunStatus
    reason: str


@dataclass(slots=True)
class ActiveRun:
    """A run that is recorded and under way. `unfinished` counts the work that has no result yet.

    Once it is `halted`, no more of its work is begun; what is under way is finished, the rest can be resumed.
    """

    id: str
    model: Model
    options: GradingOptions
    work: Sequence[WorkItem]
    unfinished: int = field(init=False)
    halted: Halt | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.unfinished = len(self.work)


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


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that users should know and that has no effect on the run."""

    text: str


Event = Generating | Generated | Grading | StepFinished | Retrying | Finished | Halted | Stopping | Notice
Watcher = Callable[[Event], None]
