"""Agreement between an engine and a labelled set, and how it reads."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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


def score_json(score: Score) -> dict[str, Any]:
    """The shape is promised: fields are added and never renamed."""
    counts = score.confusion
    return {
        "engine": score.engine,
        "total": len(score.results),
        "agree": score.agree,
        "agreement": round(score.agreement, 3),
        "macroF1": round(score.macro_f1, 3),
        "perClass": {each: _class_json(score, each) for each in CLASSES},
        "confusion": {label: {got: counts[label, got] for got in CLASSES} for label in CLASSES},
        "cases": [
            {
                "id": each.case.id,
                "expected": each.case.failure_class,
                "got": each.got.failure_class,
                "confidence": round(each.got.confidence, 2),
                "rule": each.got.rule,
                "summary": each.got.summary,
            }
            for each in score.results
        ],
    }


def score_lines(score: Score) -> Iterator[str]:
    total = len(score.results)
    share = f"{score.agreement:.1%}, macro-F1 {score.macro_f1:.2f}"
    yield f"{score.engine} agrees with {score.agree} of {total} labels ({share})"
    yield ""
    yield f"{'class':<15} {'precision':>9} {'recall':>7} {'F1':>6} {'labelled':>9}"
    for name in CLASSES:
        of = score.of_class(name)
        yield f"{name:<15} {of.precision:>9.2f} {of.recall:>7.2f} {of.f1:>6.2f} {of.labelled:>9}"
    yield ""
    yield f"{'labelled, classified as':<24}" + "".join(f"{name:>16}" for name in CLASSES)
    for name in CLASSES:
        yield f"{name:<24}" + "".join(f"{score.confusion[name, got]:>16}" for got in CLASSES)
    yield from _disagreements(score)


def _disagreements(score: Score) -> Iterator[str]:
    wrong = [each for each in score.results if not each.agrees]
    if wrong:
        yield ""
        yield "Disagreements:"
    for each in wrong:
        yield f"  {each.case.id}: labelled {each.case.failure_class}, classified {each.got.failure_class}"
        yield f"    {each.got.summary}"


def _class_json(score: Score, name: FailureClass) -> dict[str, Any]:
    of = score.of_class(name)
    return {
        "precision": round(of.precision, 3),
        "recall": round(of.recall, 3),
        "f1": round(of.f1, 3),
        "labelled": of.labelled,
        "classified": of.classified,
    }
