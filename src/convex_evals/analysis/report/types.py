"""What a report says. The Markdown and its JSON twin are two spellings of these values."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from convex_evals.analysis.changes import Change
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Action, Found
from convex_evals.analysis.health import SharedFailure
from convex_evals.core.verdicts import FailureClass, StepName


@dataclass(frozen=True, slots=True)
class RepeatFacts:
    """Of a run with several trials: pass@k and pass^k for k = `trials`, over the `evals` that have as many verdicts."""

    trials: int
    evals: int
    pass_at: float
    pass_all: float
    flaky: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Of the results that are verdicts; infrastructure trouble counts on neither side.

    `passed`, `failed` and `total` count trials; `pass_rate` is the mean over evals.
    """

    id: str
    date: str  # of the run
    provider: str
    model: str
    model_name: str | None  # as tables show it
    experiment: str
    status: str
    passed: int
    failed: int
    total: int  # planned
    low: float  # of the pass rate, 95 %
    high: float
    evals: int  # planned
    pass_rate: float | None
    repeats: RepeatFacts | None = None

    @property
    def verdicts(self) -> int:
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class PriorReport:
    path: str
    run: str
    date: str
    failed: int
    actions: tuple[Action, ...] = ()
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Label:
    """A person's word: it stands above any engine's."""

    eval: str
    failure_class: FailureClass
    why: str
    author: str
    date: str
    run: str
    trial: int = 1


@dataclass(frozen=True, slots=True)
class FailureReport:
    """`error`, both snippets and `evidence` may quote a model: they are shown as text."""

    eval: str
    trial: int
    failed_step: StepName
    error: str
    model_snippet: str
    expected_snippet: str
    found: Found
    cause_note: str
    classification: Classification
    evidence: tuple[str, ...]
    fingerprints: tuple[str, ...]
    causes: tuple[str, ...]  # what is grouped by: names of the mistake, the most telling first
    repeat: bool
    history: str  # repeat or new, in a sentence
    cure: str  # whether an action taken earlier should have cured it; empty when there was none
    label: Label | None = None

    @property
    def failure_class(self) -> FailureClass:
        return self.label.failure_class if self.label else self.classification.failure_class


@dataclass(frozen=True, slots=True)
class InfrastructureFailure:
    """Not the model's doing, so nobody classifies it."""

    eval: str
    trial: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """Failures that share a cause."""

    title: str
    detail: str
    evals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recommendations:
    evals: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    none: tuple[str, ...] = ()  # evals that need nothing


@dataclass(frozen=True, slots=True)
class Report:
    run: RunFacts
    date: str  # of the report
    engine: str
    prior: tuple[PriorReport, ...]
    failures: tuple[FailureReport, ...]
    infrastructure: tuple[InfrastructureFailure, ...]
    patterns: tuple[Pattern, ...]
    recommendations: Recommendations
    overall: str  # the last sentence of the net impact
    actions: tuple[Action, ...] = ()
    suspicious: tuple[SharedFailure, ...] = ()  # checks of these evals that unrelated models fail alike, in all runs
    changes: tuple[Change, ...] = ()  # that `analyze apply` can make

    def count(self, *classes: FailureClass) -> int:
        return sum(failure.failure_class in classes for failure in self.failures)

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(failure.label for failure in self.failures if failure.label)

    @property
    def unsure(self) -> tuple[FailureReport, ...]:
        """Failures whose class is a guess that nobody has confirmed."""
        return tuple(each for each in self.failures if each.classification.unsure and each.label is None)

    def by_step(self) -> list[tuple[StepName, int]]:
        """The most frequent first."""
        return counted(failure.failed_step for failure in self.failures)


def counted(steps: Iterable[StepName]) -> list[tuple[StepName, int]]:
    return Counter(steps).most_common()
