"""Agreement between an engine and a labelled set: the figures of a classifier, and the guess that they must beat."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from convex_evals.analysis.classification import Classification, Engine
from convex_evals.analysis.scoring.cases import LabelledCase, case_evidence
from convex_evals.analysis.surface import Surface
from convex_evals.core.verdicts import CLASSES, FailureClass

Amount = Literal["graded by us", "error and snippets", "error or snippets", "nothing"]
"""How much evidence a case carries."""
AMOUNTS: Final[tuple[Amount, ...]] = get_args(Amount)
BINS: Final = 10


@dataclass(frozen=True, slots=True)
class CaseResult:
    case: LabelledCase
    got: Classification

    @property
    def agrees(self) -> bool:
        return self.got.failure_class == self.case.failure_class

    @property
    def agrees_on_fault(self) -> bool:
        """Whether both say that it is the model's, or both that it is not."""
        return (self.got.failure_class == "MODEL_FAULT") == (self.case.failure_class == "MODEL_FAULT")

    @property
    def amount(self) -> Amount:
        case = self.case
        if case.diagnostics:
            return "graded by us"
        known = bool(case.error.strip()), bool(case.model_snippet.strip() or case.expected_snippet.strip())
        return "error and snippets" if all(known) else "error or snippets" if any(known) else "nothing"


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
class Bin:
    """Classifications of about the same confidence, and how many of them people share."""

    low: float
    high: float
    count: int
    confidence: float  # their mean
    agreement: float


@dataclass(frozen=True, slots=True)
class Score:
    engine: str
    results: tuple[CaseResult, ...]

    @property
    def agree(self) -> int:
        return sum(result.agrees for result in self.results)

    @property
    def agreement(self) -> float:
        return _share(self.results, lambda each: each.agrees)

    @property
    def fault_agreement(self) -> float:
        return _share(self.results, lambda each: each.agrees_on_fault)

    @property
    def unsure(self) -> tuple[CaseResult, ...]:
        """Abstentions: a class is given, and the report says that it is a guess."""
        return tuple(each for each in self.results if each.got.unsure)

    @property
    def sure_agreement(self) -> float:
        return _share([each for each in self.results if not each.got.unsure], lambda each: each.agrees)

    @property
    def unsure_agreement(self) -> float:
        return _share(self.unsure, lambda each: each.agrees)

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

    @property
    def reliability(self) -> tuple[Bin, ...]:
        """The bins that have something in them, the least confident first."""
        return tuple(found for number in range(BINS) if (found := self._bin(number)).count)

    def _bin(self, number: int) -> Bin:
        low, high = number / BINS, (number + 1) / BINS
        inside = [
            each for each in self.results if low <= each.got.confidence < high or high == each.got.confidence == 1.0
        ]
        mean = sum(each.got.confidence for each in inside) / len(inside) if inside else 0.0
        return Bin(low, high, len(inside), mean, _share(inside, lambda each: each.agrees))

    @property
    def calibration_error(self) -> float:
        """Expected: how far confidence and agreement are apart, weighted by how many cases a bin has."""
        total = len(self.results) or 1
        return sum(each.count * abs(each.confidence - each.agreement) for each in self.reliability) / total

    @property
    def separation(self) -> float:
        """How well confidence tells right from wrong: the area under its ROC curve. 0.5 is a constant's."""
        return area_under_curve([each.got.confidence for each in self.results], [each.agrees for each in self.results])

    def by_amount(self) -> dict[Amount, "Score"]:
        """Split by how much evidence the cases carry."""
        split = {name: tuple(each for each in self.results if each.amount == name) for name in AMOUNTS}
        return {name: Score(self.engine, results) for name, results in split.items() if results}

    def baseline(self) -> "Score":
        """What always saying the most frequent label would score."""
        counts = Counter(each.case.failure_class for each in self.results)
        majority, number = counts.most_common(1)[0]
        guess = Classification(majority, number / len(self.results), "The most frequent label.", "A guess.")
        return Score(f"always {majority}", tuple(CaseResult(each.case, guess) for each in self.results))


async def score_engine(
    cases: Sequence[LabelledCase], engine: Engine, surface: Surface | None, *, jobs: int = 4
) -> Score:
    """Asks the engine about every case, at most `jobs` at a time."""
    turn = asyncio.Semaphore(jobs)

    async def judge(case: LabelledCase) -> CaseResult:
        async with turn:
            return CaseResult(case, await engine.classify(case_evidence(case, surface)))

    return Score(engine.name, tuple(await asyncio.gather(*(judge(case) for case in cases))))


def area_under_curve(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """How often something right is more confident than something wrong, ties counting half; 0.5 without both kinds."""
    known = list(zip(confidences, right, strict=True))
    good, bad = [sure for sure, holds in known if holds], [sure for sure, holds in known if not holds]
    if not good or not bad:
        return 0.5
    return sum((one > other) + (one == other) / 2 for one in good for other in bad) / (len(good) * len(bad))


def _share(results: Sequence[CaseResult], holds: Callable[[CaseResult], bool]) -> float:
    return sum(map(holds, results)) / len(results) if results else 0.0
