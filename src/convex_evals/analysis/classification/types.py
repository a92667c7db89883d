"""What a classifier is and what it says."""

from dataclasses import dataclass
from typing import Literal, Protocol

from convex_evals.analysis.evidence import Evidence
from convex_evals.core.verdicts import FailureClass

EngineName = Literal["rules", "llm"]


@dataclass(frozen=True, slots=True)
class Classification:
    """`summary` is one line for the table; `reasoning` two or three sentences; `cited` the evidence behind them."""

    failure_class: FailureClass
    confidence: float  # from 0 to 1
    summary: str
    reasoning: str
    cited: tuple[str, ...] = ()
    rule: str = ""  # the rule that decided, when rules did
    engine: EngineName = "rules"
    note: str = ""  # why another engine than the chosen one decided


class Engine(Protocol):
    """Judges one failure at a time; any number of calls may be under way at once."""

    @property
    def name(self) -> EngineName: ...

    async def classify(self, evidence: Evidence) -> Classification: ...
