"""What is recorded of an attempt while it happens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from convex_evals.core.steps import TestCounts
from convex_evals.core.verdicts import Status, StepName

CostSource = Literal["provider", "estimated", "unknown"]


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
