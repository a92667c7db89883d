"""What an earlier report of the same model said about the same eval."""

from dataclasses import dataclass

from convex_evals.analysis.evidence.action import Action
from convex_evals.core.verdicts import FailureClass, StepName


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
