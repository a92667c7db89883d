"""What would have happened otherwise. None means that it is not known."""

from dataclasses import dataclass


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
