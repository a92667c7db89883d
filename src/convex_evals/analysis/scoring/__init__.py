"""How often an engine agrees with people: labelled cases, and the figures that come out."""

from convex_evals.analysis.scoring.cases import LabelledCase, case_evidence, read_cases
from convex_evals.analysis.scoring.score import CaseResult, ClassScore, Score, score_engine, score_json, score_lines

__all__ = [
    "CaseResult",
    "ClassScore",
    "LabelledCase",
    "Score",
    "case_evidence",
    "read_cases",
    "score_engine",
    "score_json",
    "score_lines",
]
