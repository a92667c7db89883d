"""Rules and analyst together: where they agree, that is it; where they do not, a second opinion decides."""

from dataclasses import replace
from typing import Final

from convex_evals.analysis.classification.llm import LlmEngine
from convex_evals.analysis.classification.rules import RulesEngine
from convex_evals.analysis.classification.types import Classification, EngineName
from convex_evals.analysis.evidence import Evidence

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
