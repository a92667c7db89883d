"""The vocabulary of grading: steps, their order, and how things can end."""

from typing import Final, Literal, get_args

StepName = Literal["filesystem", "install", "deploy", "tsc", "eslint", "tests"]
STEPS: Final[tuple[StepName, ...]] = get_args(StepName)
GATES: Final[tuple[StepName, ...]] = ("filesystem", "install", "deploy")  # nothing after a failed gate runs

Status = Literal["passed", "failed", "skipped", "infrastructure"]
"""`infrastructure` is not the model's fault: it is retried, and never counted."""

FailureClass = Literal["MODEL_FAULT", "OVERLY_STRICT", "AMBIGUOUS_TASK", "KNOWN_GAP"]
CLASSES: Final[tuple[FailureClass, ...]] = get_args(FailureClass)
