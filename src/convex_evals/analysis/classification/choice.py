"""Which engine classifies."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from convex_evals.analysis.classification.rules import RulesEngine
from convex_evals.analysis.classification.types import Engine
from convex_evals.core.settings import Settings

if TYPE_CHECKING:
    from convex_evals.models import ModelEntry

EngineChoice = Literal["auto", "rules", "llm"]
ANALYST_TAG: Final = "analyst"


@dataclass(frozen=True, slots=True)
class Analyst:
    """The language model that classifies. `model` None: the setting's, or else the registry's model with the tag."""

    model: str | None = None
    base_url: str | None = None
    budget: float | None = None  # US dollars


def choose_engine(choice: EngineChoice, settings: Settings, analyst: Analyst | None = None) -> Engine:
    """`auto` takes a language model when there is a key for it. Raises UsageError, also when `llm` has no key."""
    if choice == "rules":
        return RulesEngine()
    return _llm(choice, settings, analyst or Analyst()) or RulesEngine()


def _llm(choice: EngineChoice, settings: Settings, analyst: Analyst) -> Engine | None:
    """None: it was not insisted on, and there is no key."""
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
