"""Agreement between an engine and a labelled set."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.analysis.classification import Classification, Engine
from convex_evals.analysis.scoring.cases import LabelledCase, case_evidence
from convex_evals.analysis.surface import Surface
from convex_evals.core.verdicts import CLASSES, FailureClass


@dataclass(frozen=True, slots=True)
class CaseResult:
    case: LabelledCase
    got: Classification

    @property
    def agrees(self) -> bool:
        return self.got.failure_class == self.case.failure_class


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Of one class. A share of nothing is 0."""

    true: int  # labelled so and classified so
    labelled: int
    classified: int

    @property
    def precision(self) -> float:
        return self.true / self.classified if self.classified else 0.0

    @property
    def recall(self) -> float:
        return self.true / self.labelled if self.labelled else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True, slots=True)
class Score:
    engine: str
    results: tuple[CaseResult, ...]

    @property
    def agree(self) -> int:
        return sum(result.agrees for result in self.results)

    @property
    def agreement(self) -> float:
        return self.agree / len(self.results) if self.results else 0.0

    @property
    def confusion(self) -> Counter[tuple[FailureClass, FailureClass]]:
        """How often (labelled, classified)."""
        return Counter((each.case.failure_class, each.got.failure_class) for each in self.results)

    def of_class(self, failure_class: FailureClass) -> ClassScore:
        counts = self.confusion
        labelled = sum(counts[failure_class, other] for other in CLASSES)
        classified = sum(counts[other, failure_class] for other in CLASSES)
        return ClassScore(counts[failure_class, failure_class], labelled, classified)

    @property
    def macro_f1(self) -> float:
        """The mean over the classes that occur, as label or as classification."""
        scores = [self.of_class(each) for each in CLASSES]
        occurring = [score.f1 for score in scores if score.labelled or score.classified]
        return sum(occurring) / len(occurring) if occurring else 0.0


async def score_engine(
    cases: Sequence[LabelledCase], engine: Engine, surface: Surface | None, *, jobs: int = 4
) -> Score:
    """Asks the engine about every case, at most `jobs` at a time."""
    turn = asyncio.Semaphore(jobs)

    async def judge(case: LabelledCase) -> CaseResult:
        async with turn:
            return CaseResult(case, await engine.classify(case_evidence(case, surface)))

    return Score(engine.name, tuple(await asyncio.gather(*(judge(case) for case in cases))))
