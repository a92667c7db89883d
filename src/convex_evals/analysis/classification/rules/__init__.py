"""Rules over the evidence, one file per kind. No rule may name an eval or a model."""

from convex_evals.analysis.classification.rules.engine import RULES, RulesEngine
from convex_evals.analysis.classification.rules.rule import Rule

__all__ = ["RULES", "Rule", "RulesEngine"]
