"""One request to a model, streamed, and what the reply was and took. Importing this loads what speaks to providers."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Final, Literal, cast

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.openrouter import OpenRouterModelSettings
from pydantic_ai.native_tools import WebSearchTool
from pydantic_ai.settings import ModelSettings

from convex_evals.models.costs import Tokens, cost_of
from convex_evals.models.providers.clients import Access, Faults, http_client
from convex_evals.models.providers.errors import DeadlineError, ProviderError
from convex_evals.models.providers.question import AskSettings, Question, Reply
from convex_evals.models.providers.retry import RequestPolicy
from convex_evals.models.registry import ModelEntry
from convex_evals.scores import Usage

UNSAID: Final = Usage()
"""Of an answer that broke off: it is paid for, and nobody says how much."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A response that came to its end."""

    response: ModelResponse
    first_token_ms: float | None
    generation_ms: float

    @property
    def text(self) -> str:
        return "".join(part.content for part in self.response.parts if isinstance(part, TextPart))


class RequestTimeout(Exception):
    """The answer took longer than one of the times that the policy allows."""

    def __init__(self, policy: RequestPolicy, which: Literal["deadline", "stall", "first_token"]) -> None:
        super().__init__(which)
        self.policy, self.which = policy, which

    def explained(self, slug: str) -> ProviderError:
        match self.which:
            case "deadline":
                said = f"the answer was not complete within {self.policy.deadline:g} s."
                return DeadlineError(f"{slug}: {said}", usages=(UNSAID,))
            case "stall":
                said = f"the answer stopped in the middle for {self.policy.stall:g} s."
            case "first_token":
                said = f"nothing came within {self.policy.first_token:g} s."
        return ProviderError(f"{slug}: {said}", usages=(UNSAID,))


@dataclass(slots=True)
class Watch:
    """Measures a response as it streams in."""

    policy: RequestPolicy
    seconds: float  # that are left
    began: float = field(default_factory=monotonic)
    first_token: float | None = None
    has_text: bool = False

    def saw(self, event: ModelResponseStreamEvent) -> None:
        text, thought = _pieces(event)
        if (text or thought) and self.first_token is None:
            self.first_token = monotonic()
        self.has_text = self.has_text or text

    @property
    def allowance(self) -> float:
        """How long the next piece may take."""
        silence = self.policy.stall if self.has_text else self.policy.first_token
        return max(0.0, min(silence, self.began + self.seconds - monotonic()))

    def late(self) -> "RequestTimeout":
        over = monotonic() >= self.began + self.seconds
        return RequestTimeout(self.policy, "deadline" if over else "stall" if self.has_text else "first_token")

    def streamed(self, response: ModelResponse) -> Streamed:
        first = None if self.first_token is None else (self.first_token - self.began) * 1000
        return Streamed(response, first, (monotonic() - self.began) * 1000)


async def stream(model: Model, question: Question, policy: RequestPolicy, seconds: float) -> Streamed:
    """Raises RequestTimeout when it takes too long, and whatever the library raises."""
    watch = Watch(policy, seconds)
    try:
        return await _stream(model, question, watch)
    except TimeoutError:
        raise watch.late() from None


async def _stream(model: Model, question: Question, watch: Watch) -> Streamed:
    loop = asyncio.get_running_loop()
    async with (
        asyncio.timeout(watch.allowance) as alarm,
        model_request_stream(
            model,
            _messages(question),
            model_settings=_settings(question.settings, watch.policy),
            model_request_parameters=ModelRequestParameters(
                native_tools=[WebSearchTool()] if question.settings.web_search else []
            ),
        ) as response,
    ):
        async for event in response:
            watch.saw(event)
            alarm.reschedule(loop.time() + watch.allowance)
    return watch.streamed(response.get())


def _messages(question: Question) -> list[ModelRequest]:
    prompt = question.prompt
    return [ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(prompt.user)])]


def _settings(settings: AskSettings, policy: RequestPolicy) -> ModelSettings:
    sent = OpenRouterModelSettings(
        max_retries=0,  # we retry, and say so
        timeout=policy.first_token,
        openrouter_usage={"include": True},
    )
    if settings.output_tokens is not None:
        sent["max_tokens"] = settings.output_tokens
    if settings.reasoning is not None:
        sent["thinking"] = False if settings.reasoning == "none" else settings.reasoning
    return cast(ModelSettings, sent)


def _pieces(event: ModelResponseStreamEvent) -> tuple[bool, bool]:
    """Whether it brings text, and whether it brings thoughts."""
    match event:
        case (
            PartStartEvent(part=TextPart(content=content)) | PartDeltaEvent(delta=TextPartDelta(content_delta=content))
        ):
            return bool(content), False
        case PartStartEvent(part=ThinkingPart()) | PartDeltaEvent(delta=ThinkingPartDelta()):
            return False, True
        case _:
            return False, False


@dataclass(frozen=True, slots=True)
class StreamingClient:
    """Opens a connection per question, so there is none to keep alive or to close."""

    access: Access
    faults: Faults
    policy: RequestPolicy

    async def send(self, question: Question, seconds: float) -> Reply:
        answer = await self._streamed(question, seconds)
        if isinstance(answer, ProviderError):
            raise answer
        return self._reply(answer)

    async def _streamed(self, question: Question, seconds: float) -> Streamed | ProviderError:
        """The error is returned, because one that is raised here would carry along what the library raised."""
        try:
            async with http_client(self.access.address, self.policy) as http:
                return await stream(self.access.model(http), question, self.policy, seconds)
        except RequestTimeout as error:
            return error.explained(self.access.entry.slug)
        except Exception as error:  # whatever the library raises for a malformed response
            return self.faults.explain(error)

    def _reply(self, answer: Streamed) -> Reply:
        usage = read_usage(answer, self.access.entry)
        if (wrong := _wrong(answer, usage)) is not None:
            # How long it took is not how long answers take.
            paid = replace(usage, first_token_ms=None, generation_ms=None)
            raise ProviderError(f"{self.access.entry.slug}: {wrong}", usages=(paid,))
        return Reply(answer.text, usage, _notes(answer.response, self.access.entry))


def _wrong(answer: Streamed, usage: Usage) -> str | None:
    """Why the answer is of no use."""
    if usage.finish_reason is None:
        return "the answer ended early."
    if not answer.text.strip():
        return f"the answer is empty (it ended with {usage.finish_reason})."
    if usage.output_tokens == 0:
        return "the provider reports 0 output tokens for an answer that has text."
    return None


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
        notes.append("The provider did not report token usage.")
    return tuple(notes)
