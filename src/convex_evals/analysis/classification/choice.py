"""Which engine classifies: rules, an analyst, or both with a second opinion where the two do not agree."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from convex_evals.analysis.classification.rules import RulesEngine
from convex_evals.analysis.classification.types import Engine
from convex_evals.core.settings import Settings

if TYPE_CHECKING:
    from convex_evals.analysis.classification.llm import LlmEngine
    from convex_evals.models import ModelEntry
from dataclasses import replace

from convex_evals.analysis.classification.llm import LlmEngine
from convex_evals.analysis.classification.types import Classification, EngineName
from convex_evals.analysis.evidence import Evidence

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
    from convex_evals.analysis.classification.choice import BothEngine

    return BothEngine(asked)


def _llm(choice: EngineChoice, settings: Settings, analyst: Analyst) -> "LlmEngine | None":
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


def engines_beside(engine: Engine) -> tuple[Engine, ...]:
    """The engine, and those that a comparison shows beside it: what a language model adds is seen against the rules."""
    if engine.name == "rules":
        return (engine,)
    from convex_evals.analysis.classification.choice import BothEngine

    return (engine, engine.analyst, RulesEngine()) if isinstance(engine, BothEngine) else (engine, RulesEngine())


MOST: Final = 0.97


class BothEngine:
    """The analyst sees the evidence first without knowing what the rules say."""

    name: EngineName = "both"

    def __init__(self, analyst: LlmEngine) -> None:
        self.analyst = analyst
        self._rules = RulesEngine()

    async def classify(self, evidence: Evidence) -> Classification:
        by_rules = await self._rules.classify(evidence)
        first = await self.analyst.classify(evidence)
        if first.engine == "rules":
            return first  # the analyst did not answer, and the note says why
        if first.failure_class == by_rules.failure_class:
            sure = 1 - (1 - first.confidence) * (1 - by_rules.confidence)
            return replace(first, confidence=round(min(MOST, sure), 2), engine="both", note="The rules say the same.")
        return await self._decided(evidence, by_rules, first)

    async def _decided(self, evidence: Evidence, by_rules: Classification, first: Classification) -> Classification:
        said = f"The rules said {by_rules.failure_class}, the analyst first {first.failure_class}"
        second = await self.analyst.decide(evidence, (by_rules, first))
        if second is None:
            kept = max(by_rules, first, key=lambda each: each.confidence)
            return replace(kept, engine="both", note=f"{said}; no second opinion was to be had.")
        return replace(second, engine="both", note=f"{said}; this is the second opinion.")
