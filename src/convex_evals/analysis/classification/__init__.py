"""Whose fault is it? Engines that turn evidence into exactly one of the four classes."""

from convex_evals.analysis.classification.choice import Analyst, EngineChoice, choose_engine
from convex_evals.analysis.classification.rules import RulesEngine
from convex_evals.analysis.classification.types import Classification, Engine, EngineName

__all__ = ["Analyst", "Classification", "Engine", "EngineChoice", "EngineName", "RulesEngine", "choose_engine"]
