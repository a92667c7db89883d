"""How often an engine agrees with people: labelled cases, and the figures that come out."""

from convex_evals.analysis.scoring.cases import LabelledCase, case_evidence, case_json, read_cases
from convex_evals.analysis.scoring.score import Bin, CaseResult, ClassScore, Score, area_under_curve, score_engine
from convex_evals.analysis.scoring.summary import reliability_lines, score_json, score_lines

__all__ = [
    "Bin",
    "CaseResult",
    "ClassScore",
    "LabelledCase",
    "Score",
    "area_under_curve",
    "case_evidence",
    "case_json",
    "read_cases",
    "reliability_lines",
    "score_engine",
    "score_json",
    "score_lines",
]
