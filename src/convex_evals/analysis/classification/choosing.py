"""Which engine classifies."""

from typing import Literal

from convex_evals.analysis.classification.rules import RulesEngine
from convex_evals.analysis.classification.types import Engine
from convex_evals.core.errors import UsageError
from convex_evals.core.settings import Settings

EngineChoice = Literal["auto", "rules", "llm"]


def choose_engine(choice: EngineChoice, settings: Settings) -> Engine:
    """`auto` takes a language model when there is a key for one. Raises UsageError."""
    if choice == "llm":
        raise UsageError("There is no language model to classify with yet; --engine rules needs none.")
    return RulesEngine()
