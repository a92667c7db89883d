"""Rules over the evidence, one file per kind. No rule may name an eval or a model."""

from convex_evals.analysis.classification.rules.engine import RULES, RulesEngine, Weighed, judge, weigh
from convex_evals.analysis.classification.rules.opinion import Complaint, Opinion, Rule, complaints_of

__all__ = [
    "RULES",
    "Complaint",
    "Opinion",
    "Rule",
    "RulesEngine",
    "Weighed",
    "complaints_of",
    "judge",
    "weigh",
]
