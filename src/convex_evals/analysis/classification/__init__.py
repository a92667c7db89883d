"""Whose fault is it, and is it documented? Engines that answer both, and the one of four classes that follows."""

from convex_evals.analysis.classification.choice import (
    Analyst,
    EngineChoice,
    analyst_of,
    choose_engine,
    compared_engines,
)
from convex_evals.analysis.classification.rules import RulesEngine
from convex_evals.analysis.classification.types import Classification, Engine, EngineName, Fault, class_of

__all__ = [
    "Analyst",
    "Classification",
    "Engine",
    "EngineChoice",
    "EngineName",
    "Fault",
    "RulesEngine",
    "analyst_of",
    "choose_engine",
    "class_of",
    "compared_engines",
]
