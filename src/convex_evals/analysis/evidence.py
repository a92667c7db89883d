"""Everything a classifier may look at: gathered before anyone classifies, and plain values throughout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import FailureClass, StepName


@dataclass(frozen=True, slots=True)
class Action:
    """`evals` are the failures it is meant to cure; empty: all of the report."""

    text: str
    date: str  # YYYY-MM-DD
    author: str = ""
    evals: tuple[str, ...] = ()


Found = Literal["isolated", "located", "stated", "unknown"]
"""How a cause was found.

- isolated: by delta debugging; applying these hunks of the reference turned the failing step green
- located: the differences that lie next to what the tools complain about; nothing was tried
- stated: someone wrote the snippets down, as in a labelled case
- unknown: there is nothing to show
"""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One piece of one file. An empty side means that there is no such piece there."""

    file: str
    model: str
    expected: str
    line: int = 0  # where the piece begins in the model's file; 0 when it has none
    name: str = ""  # of the declaration it belongs to


@dataclass(frozen=True, slots=True)
class Cause:
    """`note` says how it was found, or why nothing was."""

    found: Found = "unknown"
    model_snippet: str = ""
    expected_snippet: str = ""
    hunks: tuple[Hunk, ...] = ()
    note: str = ""
    minimal: bool = False  # no smaller set of these hunks is enough
    tries: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that a failing check insists on, and whether the task says it."""

    text: str
    stated: bool


@dataclass(frozen=True, slots=True)
class OtherModel:
    """How another model's latest answer to the same eval did, and whether it failed at the same check."""

    model: str
    run: str
    passed: bool
    same_check: bool = False


@dataclass(frozen=True, slots=True)
class Repeats:
    """Results of the same eval elsewhere: other trials of this run, or the very same files wherever graded."""

    passed: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class Counterfactuals:
    lint_rules: tuple[str, ...] = ()
    """The rules that were broken."""
    passes_without_lint: bool | None = None
    """Every other step passed: without these rules the answer would have passed."""
    behaviour_passes: bool | None = None
    """Every test of behaviour passed: what failed are types, lint, or tests that compare declarations."""
    other_trials: Repeats | None = None
    same_answer: Repeats | None = None
    other_models: tuple[OtherModel, ...] = ()
    demands: tuple[Demand, ...] = ()

    @property
    def unstated(self) -> tuple[str, ...]:
        """What the failing checks demand and the task does not mention."""
        return tuple(demand.text for demand in self.demands if not demand.stated)


Aspect = Literal[
    "file",
    "export",
    "function kind",
    "arguments",
    "returns",
    "table",
    "field",
    "index",
    "import",
    "directive",
    "dependency",
]


@dataclass(frozen=True, slots=True)
class Difference:
    """`place` is a file or a table; None on one side means that it has no such thing."""

    aspect: Aspect
    place: str
    name: str
    expected: str | None
    received: str | None

    def __str__(self) -> str:
        what = f"{self.aspect} {self.name}" if self.name else self.aspect
        return f"{what} in {self.place}: expected {self.expected or 'none'}, received {self.received or 'none'}"


@dataclass(frozen=True, slots=True)
class UnknownSymbol:
    """`owner` has no `name`: `v` has no `tuple`, "./_generated/server" exports no `paginationOptsValidator`."""

    name: str
    owner: str
    file: str = ""
    line: int = 0
    known_in: str | None = None  # the module that does have it
    suggestion: str | None = None  # what the owner has that is spelled nearly so

    def __str__(self) -> str:
        there = f"; {self.known_in} has it" if self.known_in else ""
        near = f" (but {self.suggestion})" if self.suggestion and not self.known_in else ""
        return f"{self.owner} has no {self.name}{there}{near}"


@dataclass(frozen=True, slots=True)
class GapMatch:
    """The entry of GAPS.txt that speaks of the cause, and the terms it shares with it. `score` is from 0 to 1.

    `blames`: who the entry says is wrong. `demanded`: it says only that models get this wrong, and the task requires
    it. `excused`: it says that nobody asked for it. `certain`: they share a name, and not only words.
    """

    passage: str
    terms: tuple[str, ...]
    score: float
    blames: Literal["model", "task", "check"] = "model"
    resolved: bool = False
    demanded: bool = False
    excused: bool = False
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Parity:
    """The reference put through the failed step, and the answer with nothing but the reference's configuration.

    `complaints` are the fingerprints of what the step said about the reference; None: there was no verdict.
    """

    complaints: tuple[str, ...] | None = None
    configuration_cures: bool | None = None

    def reference_fails(self, diagnostic: Diagnostic) -> bool:
        return bool(self.complaints and diagnostic.fingerprint in self.complaints)


@dataclass(frozen=True, slots=True)
class PriorFinding:
    """`same_cause`: it failed at the same check, or needed the same change. `actions` were taken for this eval."""

    report: str  # its path below reports/
    run: str
    date: str
    eval: str
    failed_step: StepName
    failure_class: FailureClass
    same_cause: bool = False
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """What a person said about another failure of the same model."""

    eval: str
    failure_class: FailureClass
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Only the failed step is always known; everything else may be missing, and empty means that it is not known."""

    failed_step: StepName
    eval: str = ""  # category/name
    category: str = ""
    trial: int = 1
    task: str = ""
    error: str = ""  # what the failed step quoted
    steps: tuple[StepResult, ...] = ()
    tests: TestCounts | None = None
    diagnostics: tuple[Diagnostic, ...] = ()  # of all steps that failed, those of the failed step first
    files: Mapping[str, str] = field(default_factory=dict)  # what the model wrote
    answer: Mapping[str, str] = field(default_factory=dict)  # the reference
    grader: str = ""  # its source
    gaps: str = ""  # GAPS.txt
    gap: GapMatch | None = None
    differences: tuple[Difference, ...] = ()
    unknown_symbols: tuple[UnknownSymbol, ...] = ()
    cause: Cause = field(default_factory=Cause)
    parity: Parity | None = None
    counterfactuals: Counterfactuals = field(default_factory=Counterfactuals)
    prior: tuple[PriorFinding, ...] = ()  # newest first
    examples: tuple[Example, ...] = ()  # newest first

    @property
    def failed_diagnostics(self) -> tuple[Diagnostic, ...]:
        """Those of the step that failed first."""
        return tuple(each for each in self.diagnostics if each.step == self.failed_step)

    def step(self, name: StepName) -> StepResult | None:
        return next((each for each in self.steps if each.name == name), None)
