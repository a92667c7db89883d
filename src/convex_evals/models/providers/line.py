"""Asks a model once, through the library, and reads what the reply was and what it took.

Importing this loads what speaks to providers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import ModelResponse

from convex_evals.models.pricing import Tokens, cost_of
from convex_evals.models.providers.asking import Question, Reply
from convex_evals.models.providers.clients import Access, http_client
from convex_evals.models.providers.errors import ProviderError
from convex_evals.models.providers.faults import Faults
from convex_evals.models.providers.patience import Patience
from convex_evals.models.providers.streaming import Late, Streamed, stream
from convex_evals.models.registry import ModelEntry
from convex_evals.scores import Usage


@dataclass(frozen=True, slots=True)
class StreamingLine:
    """Every question has a connection of its own, so there is nothing to close and nothing that grows old."""

    access: Access
    faults: Faults
    patience: Patience

    async def send(self, question: Question, seconds: float) -> Reply:
        answer = await self._streamed(question, seconds)
        if isinstance(answer, ProviderError):
            raise answer
        return self._reply(answer)

    async def _streamed(self, question: Question, seconds: float) -> Streamed | ProviderError:
        """The error is returned, because one that is raised here would carry along what the library raised."""
        try:
            async with http_client(self.access.address, self.patience) as http:
                return await stream(self.access.model(http), question, self.patience, seconds)
        except Late as error:
            return error.explained(self.access.entry.slug)
        except Exception as error:  # whatever a library makes of a strange reply, it is no answer
            return self.faults.explain(error)

    def _reply(self, answer: Streamed) -> Reply:
        usage = read_usage(answer, self.access.entry)
        slug = self.access.entry.slug
        if usage.finish_reason is None:
            raise ProviderError(f"{slug}: the answer broke off.")
        if not answer.text.strip():
            raise ProviderError(f"{slug}: the answer is empty (it ended with {usage.finish_reason}).")
        if usage.output_tokens == 0:
            raise ProviderError(f"{slug}: the answer is said to have 0 tokens, so something is wrong with it.")
        return Reply(answer.text, usage, _notes(answer.response, self.access.entry))


def read_usage(answer: Streamed, entry: ModelEntry) -> Usage:
    response, said = answer.response, answer.response.usage
    details: Mapping[str, Any] = response.provider_details or {}
    tokens = Tokens()
    if not said.unmeasured_requests:
        tokens = Tokens(
            input=said.input_tokens,
            cached=said.cache_read_tokens,
            written=said.cache_write_tokens,
            output=said.output_tokens,
        )
    cost = cost_of(entry, tokens, details.get("cost"))
    return Usage(
        input_tokens=tokens.input,
        cached_tokens=tokens.cached or None,
        output_tokens=tokens.output,
        reasoning_tokens=said.output_reasoning_tokens or None,
        first_token_ms=answer.first_token_ms,
        generation_ms=answer.generation_ms,
        finish_reason=_finish_reason(response, details),
        upstream=details.get("downstream_provider"),
        cost_usd=cost.usd,
        cost_source=cost.source,
    )


def _finish_reason(response: ModelResponse, details: Mapping[str, Any]) -> str | None:
    """In the provider's own word, if it has one."""
    own = details.get("finish_reason")
    return str(own) if own else response.finish_reason


def _notes(response: ModelResponse, entry: ModelEntry) -> tuple[str, ...]:
    notes = []
    if response.model_name not in (None, "", entry.model):
        notes.append(f"Answered by {response.model_name}.")
    if response.usage.unmeasured_requests:
        notes.append("The provider did not say how many tokens it took.")
    return tuple(notes)
