"""Which engine classifies."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from convex_evals.analysis.classification.rules import RulesEngine
from convex_evals.analysis.classification.types import Engine
from convex_evals.core.settings import Settings

if TYPE_CHECKING:
    from convex_evals.analysis.classification.llm import LlmEngine
    from convex_evals.models import ModelEntry

EngineChoice = Literal["auto", "rules", "llm", "both"]
ANALYST_TAG: Final = "analyst"


@dataclass(frozen=True, slots=True)
class Analyst:
    """The language model that classifies. `model` None: the setting's, or else the registry's model with the tag."""

    model: str | None = None
    base_url: str | None = None
    budget: float | None = None  # US dollars


def choose_engine(choice: EngineChoice, settings: Settings, analyst: Analyst | None = None) -> Engine:
    """`auto` is both when there is a key for a language model. Raises UsageError, also when one is wanted without."""
    if choice == "rules":
        return RulesEngine()
    asked = _llm(choice, settings, analyst or Analyst())
    if asked is None or choice == "llm":
        return asked or RulesEngine()
    from convex_evals.analysis.classification.llm import BothEngine

    return BothEngine(asked)


def _llm(choice: EngineChoice, settings: Settings, analyst: Analyst) -> "LlmEngine | None":
    """None: a language model is optional here, and there is no key."""
    from convex_evals.analysis.classification.llm import LlmEngine
    from convex_evals.models import AskSettings, has_key, load_registry, open_provider

    registry = load_registry()
    named = analyst.model or settings.analyst
    entry = registry.find(named) if named else _tagged(registry.models.values(), settings)
    if choice == "auto" and not has_key(entry, settings):
        return None
    transport = open_provider(entry, settings, base_url=analyst.base_url)
    return LlmEngine(transport, AskSettings.of(entry), model=entry.slug, budget=analyst.budget)


def _tagged(models: "Iterable[ModelEntry]", settings: Settings) -> "ModelEntry":
    """The first that has a key, or else the first."""
    from convex_evals.models import has_key

    tagged = [entry for entry in models if ANALYST_TAG in entry.tags]
    return next((entry for entry in tagged if has_key(entry, settings)), tagged[0])


def analyst_of(engine: Engine) -> "LlmEngine | None":
    """The language model that takes part in it."""
    if engine.name == "rules":
        return None
    from convex_evals.analysis.classification.llm import BothEngine, LlmEngine

    asked = engine.analyst if isinstance(engine, BothEngine) else engine
    return asked if isinstance(asked, LlmEngine) else None


def compared_engines(engine: Engine) -> tuple[Engine, ...]:
    """The engine, and those that a comparison shows beside it: what a language model adds is seen against the rules."""
    if engine.name == "rules":
        return (engine,)
    from convex_evals.analysis.classification.llm import BothEngine

    return (engine, engine.analyst, RulesEngine()) if isinstance(engine, BothEngine) else (engine, RulesEngine())
