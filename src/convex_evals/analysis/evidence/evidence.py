"""One failed eval, with everything that is known about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from convex_evals.analysis.evidence.cause import Cause
from convex_evals.analysis.evidence.counterfactuals import Counterfactuals
from convex_evals.analysis.evidence.difference import Difference, UnknownSymbol
from convex_evals.analysis.evidence.gap import GapMatch
from convex_evals.analysis.evidence.prior import PriorFinding
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import StepName


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
    counterfactuals: Counterfactuals = field(default_factory=Counterfactuals)
    prior: tuple[PriorFinding, ...] = ()  # newest first

    @property
    def failed_diagnostics(self) -> tuple[Diagnostic, ...]:
        """Those of the step that failed first."""
        return tuple(each for each in self.diagnostics if each.step == self.failed_step)

    def step(self, name: StepName) -> StepResult | None:
        return next((each for each in self.steps if each.name == name), None)
