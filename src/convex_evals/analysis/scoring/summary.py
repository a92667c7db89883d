"""Scores as tables for people and as JSON for programs."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from convex_evals.analysis.scoring.score import Score
from convex_evals.core.verdicts import CLASSES, FailureClass

SHORT: Final[dict[FailureClass, str]] = {
    "MODEL_FAULT": "model",
    "OVERLY_STRICT": "strict",
    "AMBIGUOUS_TASK": "task",
    "KNOWN_GAP": "gap",
}
"""So that the table fits 60 columns."""


def score_json(score: Score, others: Sequence[Score] = ()) -> dict[str, Any]:
    """The shape is promised: fields are added and never renamed. `others` are engines scored beside it."""
    counts = score.confusion
    return {
        **_figures(score),
        "perClass": {each: _class_json(score, each) for each in CLASSES},
        "confusion": {label: {got: counts[label, got] for got in CLASSES} for label in CLASSES},
        "reliability": [
            {
                "from": each.low,
                "to": each.high,
                "count": each.count,
                "confidence": round(each.confidence, 3),
                "agreement": round(each.agreement, 3),
            }
            for each in score.reliability
        ],
        "byEvidence": {name: _figures(part) for name, part in score.by_amount().items()},
        "baseline": _figures(score.baseline()),
        "engines": [_figures(each) for each in (score, *others)],
        "cases": [
            {
                "id": each.case.id,
                "expected": each.case.failure_class,
                "got": each.got.failure_class,
                "confidence": round(each.got.confidence, 2),
                "fault": each.got.fault,
                "documented": each.got.documented,
                "unsure": each.got.unsure,
                "decidedBy": each.got.decided_by,
                "rule": each.got.rule,
                "summary": each.got.summary,
            }
            for each in score.results
        ],
    }


def _figures(score: Score) -> dict[str, Any]:
    return {
        "engine": score.engine,
        "total": len(score.results),
        "agree": score.agree,
        "agreement": round(score.agreement, 3),
        "macroF1": round(score.macro_f1, 3),
        "faultAgreement": round(score.fault_agreement, 3),
        "calibrationError": round(score.calibration_error, 3),
        "unsure": len(score.unsure),
        "agreementWhenSure": round(score.sure_agreement, 3),
        "agreementWhenUnsure": round(score.unsure_agreement, 3),
        "separation": round(score.separation, 3),
    }


def _class_json(score: Score, name: FailureClass) -> dict[str, Any]:
    of = score.of_class(name)
    return {
        "precision": round(of.precision, 3),
        "recall": round(of.recall, 3),
        "f1": round(of.f1, 3),
        "labelled": of.labelled,
        "classified": of.classified,
    }


def score_lines(score: Score, others: Sequence[Score] = ()) -> Iterator[str]:
    share = f"{score.agreement:.1%}, macro-F1 {score.macro_f1:.2f}"
    yield f"{score.engine} agrees with {score.agree} of {len(score.results)} labels ({share})"
    yield ""
    yield from _engines((score, *others, score.baseline()))
    yield ""
    yield f"{'class':<15} {'precision':>9} {'recall':>7} {'F1':>6} {'labelled':>9}"
    for name in CLASSES:
        of = score.of_class(name)
        yield f"{name:<15} {of.precision:>9.2f} {of.recall:>7.2f} {of.f1:>6.2f} {of.labelled:>9}"
    yield ""
    yield f"{'labelled, classified as':<24}" + "".join(f"{SHORT[name]:>8}" for name in CLASSES)
    for name in CLASSES:
        yield f"{name:<24}" + "".join(f"{score.confusion[name, got]:>8}" for got in CLASSES)
    yield ""
    yield f"{'evidence':<20} {'cases':>5} {'agree':>6} {'fault':>6}"
    for amount, part in score.by_amount().items():
        yield f"{amount:<20} {len(part.results):>5} {part.agreement:>6.1%} {part.fault_agreement:>6.1%}"
    yield ""
    yield from reliability_lines(score)
    yield from _disagreements(score)


def _engines(scores: Sequence[Score]) -> Iterator[str]:
    """One row for each; the last is the guess that all must beat. `sure` is agreement where it is not unsure;
    AUC says how well confidence tells right from wrong (0.5: not at all)."""
    width = max(len(each.engine) for each in scores)
    yield f"{'engine':<{width}} {'agree':>6} {'F1':>4} {'fault':>6} {'ECE':>5} {'AUC':>4} {'unsure':>6} {'sure':>6}"
    for each in scores:
        figures = f"{each.agreement:>6.1%} {each.macro_f1:>4.2f} {each.fault_agreement:>6.1%}"
        sure = f"{len(each.unsure):>6} {each.sure_agreement:>6.1%}"
        yield f"{each.engine:<{width}} {figures} {each.calibration_error:>5.3f} {each.separation:>4.2f} {sure}"


def reliability_lines(score: Score) -> Iterator[str]:
    yield f"{'confidence':<12} {'cases':>5} {'mean':>6} {'agree':>6}"
    for each in score.reliability:
        span = f"{each.low:.1f} to {each.high:.1f}"
        yield f"{span:<12} {each.count:>5} {each.confidence:>6.1%} {each.agreement:>6.1%}"


def _disagreements(score: Score) -> Iterator[str]:
    wrong = [each for each in score.results if not each.agrees]
    if wrong:
        yield ""
        yield "Disagreements:"
    for each in wrong:
        unsure = ", unsure" if each.got.unsure else ""
        yield f"  {each.case.id}: labelled {each.case.failure_class}, classified {each.got.failure_class}{unsure}"
        yield f"    {each.got.summary}"
        yield f"    Decided by {each.got.decided_by or 'nothing in particular'}."
