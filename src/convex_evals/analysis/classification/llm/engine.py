"""Asks the analyst about each failure; whatever it cannot say, the rules say, and the result tells so."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from convex_evals.analysis.classification.llm.question import ask_about
from convex_evals.analysis.classification.llm.reply import Judgement, MalformedReply, read_judgement
from convex_evals.analysis.classification.rules import RulesEngine
from convex_evals.analysis.classification.types import Classification, EngineName
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.text import shortened
from convex_evals.models import AskSettings, ModelUnusableError, Prompt, ProviderError, Question, Transport

AT_ONCE: Final = 4
TRIES: Final = 2


class LlmEngine:
    """`budget` is in US dollars, for all failures together. An analyst that cannot be used is asked only once.

    `unanswered` has the failures that the rules classified instead, by the reason.
    """

    name: EngineName = "llm"

    def __init__(
        self, transport: Transport, settings: AskSettings | None = None, *, model: str = "", budget: float | None = None
    ) -> None:
        self.model = model
        self.spent = 0.0
        self.unanswered = Counter[str]()
        self._transport, self._settings, self._budget = transport, settings or AskSettings(), budget
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._unusable: str | None = None
        self._rules = RulesEngine()

    async def classify(self, evidence: Evidence) -> Classification:
        async with self._turns:
            try:
                return _classification(await self._ask(evidence))
            except (ProviderError, MalformedReply) as error:
                return await self._by_rules(evidence, str(error))

    async def decide(self, evidence: Evidence, opinions: Sequence[Classification]) -> Classification | None:
        """Between opinions that disagree; None when the analyst does not."""
        async with self._turns:
            try:
                return _classification(await self._ask(evidence, opinions))
            except (ProviderError, MalformedReply):
                return None

    async def _ask(self, evidence: Evidence, opinions: Sequence[Classification] = ()) -> Judgement:
        complaint = ""
        for number in range(1, TRIES + 1):
            self._refuse_if_over()
            text = await self._reply(ask_about(evidence, complaint, opinions), number)
            try:
                return read_judgement(text)
            except MalformedReply as error:
                complaint = str(error)
        raise MalformedReply(f"its reply could not be read, {TRIES} times: {complaint}")

    async def _reply(self, prompt: Prompt, number: int) -> str:
        question = Question(prompt, self._settings, trial=number)
        try:
            reply = await self._transport.ask(question)
        except ModelUnusableError as error:
            self._unusable = str(error)
            raise
        self.spent += reply.usage.cost_usd or 0.0
        return reply.text

    def _refuse_if_over(self) -> None:
        if self._unusable is not None:
            raise ProviderError(self._unusable)
        if self._budget is not None and self.spent >= self._budget:
            raise ProviderError(f"the budget of {self._budget:g} US dollars is spent")

    async def _by_rules(self, evidence: Evidence, why: str) -> Classification:
        found = await self._rules.classify(evidence)
        self.unanswered[shortened(why, 200)] += 1
        note = f"classified by rules, because the analyst {self.model} did not: {shortened(why, 200)}"
        return replace(found, note=note.replace("  ", " "))


def _classification(judgement: Judgement) -> Classification:
    return Classification(
        judgement.failure_class,
        judgement.confidence,
        judgement.summary,
        judgement.reasoning,
        judgement.cited,
        engine="llm",
        fault=judgement.fault,
        documented=judgement.documented,
        decided_by=judgement.decided_by,
        guessed=judgement.fault == "nobody",
    )
