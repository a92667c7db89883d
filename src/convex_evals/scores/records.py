"""Plain values: what a run plans, what is recorded while it happens, and what is read back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from convex_evals.core.ids import new_id
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import FailureClass, Status, StepName

CostSource = Literal["provider", "estimated", "unknown"]
RunStatus = Literal["running", "completed", "stopped", "failed"]
AttemptStatus = Literal["running", "passed", "failed", "skipped", "infrastructure", "interrupted"]
"""`interrupted` is an attempt whose process went away: it is kept as evidence and is not a result."""
RunDecisionKind = Literal["hide", "unhide", "delete", "label", "unlabel"]
JobState = Literal["pending", "running", "done"]
SchemaCondition = Literal["missing", "empty", "current", "older", "newer", "foreign"]

GENERATED: Final = "generated"
"""The label of runs that were made up to measure with."""


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

    def graded_like(self, other: "Fingerprints") -> bool:
        """Whether both were graded with the same options, version and tools."""
        return (self.pipeline, self.toolchain) == (other.pipeline, other.toolchain)


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


@dataclass(frozen=True, slots=True)
class Usage:
    """What one generation took. None is "not said", which is not the same as 0."""

    input_tokens: int | None = None
    cached_tokens: int | None = None  # part of the input
    output_tokens: int | None = None
    reasoning_tokens: int | None = None  # part of the output
    first_token_ms: float | None = None
    generation_ms: float | None = None
    finish_reason: str | None = None
    upstream: str | None = None  # who answered behind a gateway
    cost_usd: float | None = None
    cost_source: CostSource = "unknown"

    def __post_init__(self) -> None:
        if (self.cost_usd is None) != (self.cost_source == "unknown"):
            raise ValueError(f"a cost of {self.cost_usd} cannot have the source {self.cost_source!r}")

    @classmethod
    def of_tries(cls, tries: Sequence["Usage"]) -> "Usage":
        """What the last of them took, with the tokens and cost of all that were reported."""
        said = [each for each in tries if each.cost_usd is not None or each.output_tokens is not None]
        costs = [each.cost_usd for each in said if each.cost_usd is not None]
        complete = bool(costs) and len(costs) == len(said)
        known: CostSource = "estimated" if any(each.cost_source == "estimated" for each in said) else "provider"
        return replace(
            tries[-1],
            input_tokens=_sum(each.input_tokens for each in said),
            cached_tokens=_sum(each.cached_tokens for each in said),
            output_tokens=_sum(each.output_tokens for each in said),
            reasoning_tokens=_sum(each.reasoning_tokens for each in said),
            cost_usd=sum(costs) if complete else None,
            cost_source=known if complete else "unknown",
        )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model was asked and what came back, complete and as it was."""

    prompt: str
    response: str
    files: Mapping[str, str]  # relative path -> text, exactly as the model named them
    usage: Usage | None = None
    from_cache: bool = False
    truncated: bool = False  # the model was stopped before it was done, so `files` is not the whole answer
    notes: Sequence[str] = ()  # what was assumed or found wrong when the response was read
    unusable: Sequence[Usage] = ()  # what earlier tries took that are paid for, though their answers were of no use


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `failure` is a kind of failure, also when no step was reached."""

    status: Status
    failed_step: StepName | None = None
    failure: str | None = None
    tests: TestCounts | None = None
    duration_ms: float = 0.0
    cpu_ms: float = 0.0
    broken: str | None = None  # why the eval itself is wrong
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Results by status: one per planned eval and trial, the latest attempt that has one."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    infrastructure: int = 0
    total: int = 0  # planned: evals x trials, and trials that were added

    @property
    def remaining(self) -> int:
        """Planned, without any result."""
        return self.total - self.passed - self.failed - self.skipped - self.infrastructure


@dataclass(frozen=True, slots=True)
class RunRecord:
    id: str
    model: str
    provider: str
    experiment: str
    status: RunStatus
    reason: str | None  # why it stopped or failed
    trials: int
    fingerprints: Fingerprints
    options: Mapping[str, Any]
    labels: tuple[str, ...]
    started_at: datetime
    finished_at: datetime | None
    counts: Counts
    evals: int = 0  # planned
    worked: timedelta = timedelta(0)  # while a process worked on it; not the pauses before it was resumed
    hidden: bool = False  # by a person; lists and leaderboards leave it out

    @property
    def is_complete(self) -> bool:
        """Whether everything that was planned has a verdict."""
        return self.counts.total > 0 and self.counts.passed + self.counts.failed == self.counts.total


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Every condition given must hold. Runs come newest first."""

    model: str | None = None
    provider: str | None = None
    experiment: str | None = None
    status: RunStatus | None = None
    since: datetime | None = None
    older_than: RunRecord | None = None  # only what comes after this one in the list
    limit: int | None = None
    hidden: bool = False  # whether hidden runs are among them


EVERY_RUN: Final = RunFilter()


@dataclass(frozen=True, slots=True)
class OpenAttempt:
    """An attempt that was begun; its id is what evidence is recorded under."""

    id: str
    run_id: str
    eval: str
    trial: int
    number: int  # 1 is the first attempt of this eval and trial


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    id: str
    run_id: str
    eval: str
    trial: int
    number: int
    status: AttemptStatus
    failed_step: StepName | None
    failure: str | None
    tests: TestCounts | None
    duration_ms: float | None
    cpu_ms: float | None
    broken: str | None
    notes: tuple[str, ...]
    started_at: datetime
    finished_at: datetime | None


class Mistake(NamedTuple):
    """What answers to an eval failed with: a diagnostic, how many runs and models had it, and one of those runs."""

    step: StepName
    name: str | None
    message: str
    runs: int
    models: int
    example: str
    experiment: str
    trial: int


class RunKey(NamedTuple):
    """What was read of a run is up to date as long as `changes`, which counts them, is the same."""

    id: str
    status: RunStatus
    changes: int


class Result(NamedTuple):
    """How an eval and trial ended, in short."""

    eval: str
    trial: int
    status: AttemptStatus
    failed_step: StepName | None


class Answer(NamedTuple):
    """What asking a model for one answer took. None is "not said". `usable`: there is an answer to show for it."""

    eval: str
    cost_usd: float | None
    first_token_ms: float | None
    generation_ms: float | None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_source: CostSource = "unknown"
    usable: bool = True
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecordedSteps:
    """The steps of one attempt, in the order of the pipeline. `logs` are artifacts."""

    steps: tuple[StepResult, ...] = ()
    logs: Mapping[StepName, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailuresAlike:
    """How many other runs, and how many other models, failed with a diagnostic of the same fingerprint."""

    runs: int
    models: int


@dataclass(frozen=True, slots=True)
class GenerationRecord:
    """`prompt`, `response` and `files` are artifacts. `usage` is that of the attempt that asked the model."""

    attempt_id: str
    prompt: str
    response: str
    files: str
    from_cache: bool
    truncated: bool
    notes: tuple[str, ...]
    reused_from: str | None  # the attempt that asked the model, when this one only graded again
    usage: Usage | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class AttemptDetails:
    attempt: AttemptRecord
    generation: GenerationRecord | None
    steps: tuple[StepResult, ...] = ()  # in the order of the pipeline
    logs: Mapping[StepName, str] = field(default_factory=dict)  # artifacts


@dataclass(frozen=True, slots=True)
class RunExport:
    run: RunRecord
    evals: tuple[PlannedEval, ...]
    attempts: tuple[AttemptDetails, ...]  # every one, by eval, trial and number


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A version of the benchmark: the fingerprints that runs must have to be ranked together.

    `prompts` is by experiment. Answers that nobody was asked for (recordings) have no prompt, and fit any.
    """

    name: str
    evals: tuple[PlannedEval, ...]
    prompts: Mapping[str, str]
    pipeline: str
    toolchain: str
    minted_at: datetime


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """What a person says about a failure. The latest about a failure counts."""

    run_id: str
    eval: str
    trial: int
    failure_class: FailureClass
    note: str
    who: str
    made_at: datetime
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class RunDecision:
    """What a person decided about a run. `about` is the label, or what a deleted run was."""

    run_id: str
    kind: RunDecisionKind
    who: str
    why: str
    made_at: datetime
    about: str | None = None
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class PendingEval:
    """An eval and trial without a verdict. With `generated_by` the model need not be asked again."""

    eval: str
    trial: int
    attempts: int  # so far
    infrastructure: bool  # it has a result, but an infrastructure failure is not a verdict
    generated_by: str | None  # the attempt whose generation can be graded


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How far a data migration is: `done` of `total` rows, `rate` of them in a second of work."""

    name: str
    state: JobState
    done: int
    total: int
    rate: float | None
    started_at: datetime | None
    updated_at: datetime | None
    finished_at: datetime | None

    @property
    def seconds_left(self) -> float | None:
        return None if self.rate is None else (self.total - self.done) / self.rate


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    location: str
    condition: SchemaCondition
    revision: str | None  # of the schema it has
    head: str  # of the schema this version writes
    size: int | None = None  # bytes on disk
    runs: int = 0
    attempts: int = 0
    artifacts: int = 0
    jobs: tuple[JobStatus, ...] = ()  # data migrations
    later_jobs: tuple[str, ...] = ()  # those that upgrading the schema will ask for


@dataclass(frozen=True, slots=True)
class Upgrade:
    location: str
    before: str | None
    after: str
    backup: Path | None

    @property
    def changed(self) -> bool:
        return self.before != self.after
