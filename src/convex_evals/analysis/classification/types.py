"""What a classifier is, what it says, and how confident that is."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args

from convex_evals.analysis.evidence import Evidence
from convex_evals.core.verdicts import FailureClass

EngineName = Literal["rules", "llm", "both"]
Fault = Literal["model", "check", "task", "nobody"]
"""Who is wrong: the answer; the grader, a lint rule or the set-up; the task; or nobody that the evidence names."""
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
UNSURE_BELOW: Final = 0.6
"""For engines whose confidence nobody has compared with labels; that of `rules` is fitted together with the weights."""
WEIGHTS: Final = Path(__file__).with_name("confidence.json")
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.05, 0.97


@dataclass(frozen=True, slots=True)
class Classification:
    """Two answers, and the class that follows from them.

    `summary` is one line for the table; `reasoning` two or three sentences; `cited` the evidence behind them.
    """

    failure_class: FailureClass
    confidence: float  # from 0 to 1: how often people would say the same
    summary: str
    reasoning: str
    cited: tuple[str, ...] = ()
    rule: str = ""  # the rule that decided, when rules did
    engine: EngineName = "rules"
    note: str = ""  # why another engine than the chosen one decided, or what the other one said
    fault: Fault = "model"
    documented: bool = False  # an entry of GAPS.txt has the same cause
    decided_by: str = ""  # the piece of evidence without which it would have been another class
    guessed: bool = False  # there was nothing to judge by; the class is what is most likely

    @property
    def unsure(self) -> bool:
        """A guess rather than a finding: the report says so."""
        limit = unsure_below() if self.engine == "rules" else UNSURE_BELOW
        return self.guessed or self.confidence < limit


def class_of(fault: Fault, *, documented: bool) -> FailureClass:
    """The class that follows from the two answers. What nobody is to blame for still has to be called something."""
    if documented:
        return "KNOWN_GAP"
    match fault:
        case "check" | "nobody":
            return "OVERLY_STRICT"
        case "task":
            return "AMBIGUOUS_TASK"
    return "MODEL_FAULT"


class Engine(Protocol):
    """Judges one failure at a time; any number of calls may be under way at once."""

    @property
    def name(self) -> EngineName: ...

    async def classify(self, evidence: Evidence) -> Classification: ...


def confidence_of(features: Mapping[str, float]) -> float:
    """How often people would say the same: a logistic over a few features, fitted by scripts/fit-confidence.py."""
    return round(min(MOST_CONFIDENCE, max(LEAST_CONFIDENCE, likelihood(features, read_fit()["weights"]))), 2)


def likelihood(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    total = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-total))


def unsure_below() -> float:
    """A class that is less likely than this to be what a person would say is a guess, and the report says so."""
    threshold: float = read_fit()["unsure below"]
    return threshold


@cache
def read_fit() -> Mapping[str, Any]:
    fit: dict[str, Any] = json.loads(WEIGHTS.read_bytes())
    return fit
