"""A question to a model, the reply, and what carries one to the other."""

from dataclasses import dataclass
from typing import Protocol

from convex_evals.models.prompt import Prompt
from convex_evals.models.registry import ModelEntry, ReasoningEffort
from convex_evals.models.responses import is_cut_off
from convex_evals.scores import Usage


@dataclass(frozen=True, slots=True)
class AskSettings:
    """What is sent beside the prompt. None leaves it to the provider."""

    output_tokens: int | None = None
    reasoning: ReasoningEffort | None = None
    web_search: bool = False

    @classmethod
    def of(cls, entry: ModelEntry, *, web_search: bool = False) -> "AskSettings":
        return cls(entry.output_tokens, entry.reasoning, web_search)


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that an answer of a model may depend on."""

    prompt: Prompt
    settings: AskSettings = AskSettings()
    trial: int = 1


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, complete and unchanged. `unusable` is what tries before it took that are paid for."""

    text: str
    usage: Usage
    notes: tuple[str, ...] = ()
    from_cache: bool = False
    unusable: tuple[Usage, ...] = ()

    @property
    def finish_reason(self) -> str | None:
        return self.usage.finish_reason

    @property
    def truncated(self) -> bool:
        return is_cut_off(self.finish_reason)


class Transport(Protocol):
    """Carries questions to one model."""

    async def ask(self, question: Question) -> Reply:
        """Raises ProviderError."""
        ...
