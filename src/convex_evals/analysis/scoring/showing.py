"""A score for programs and for people."""

from collections.abc import Iterator
from typing import Any

from convex_evals.analysis.scoring.score import Score
from convex_evals.core.verdicts import CLASSES, FailureClass


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
