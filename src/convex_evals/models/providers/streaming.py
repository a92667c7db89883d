"""One request to a model, streamed. Importing this loads what speaks to providers."""

import asyncio
from dataclasses import dataclass, field
from time import monotonic
from typing import Literal, cast

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

from convex_evals.models.providers.asking import AskSettings, Question
from convex_evals.models.providers.errors import DeadlineError, ProviderError
from convex_evals.models.providers.patience import Patience


@dataclass(frozen=True, slots=True)
class Streamed:
    """A response that came to its end."""

    response: ModelResponse
    first_token_ms: float | None
    generation_ms: float

    @property
    def text(self) -> str:
        return "".join(part.content for part in self.response.parts if isinstance(part, TextPart))


class Late(Exception):
    """The answer took longer than one of the times that patience has for it."""

    def __init__(self, patience: Patience, which: Literal["deadline", "stall", "first_token"]) -> None:
        super().__init__(which)
        self.patience, self.which = patience, which

    def explained(self, slug: str) -> ProviderError:
        match self.which:
            case "deadline":
                return DeadlineError(f"{slug}: the answer was not complete within {self.patience.deadline:g} s.")
            case "stall":
                return ProviderError(f"{slug}: the answer stopped in the middle for {self.patience.stall:g} s.")
            case "first_token":
                return ProviderError(f"{slug}: nothing came within {self.patience.first_token:g} s.")


@dataclass(slots=True)
class Watch:
    """Looks at the clock while a response comes in."""

    patience: Patience
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
        silence = self.patience.stall if self.has_text else self.patience.first_token
        return max(0.0, min(silence, self.began + self.seconds - monotonic()))

    def late(self) -> "Late":
        over = monotonic() >= self.began + self.seconds
        return Late(self.patience, "deadline" if over else "stall" if self.has_text else "first_token")

    def streamed(self, response: ModelResponse) -> Streamed:
        first = None if self.first_token is None else (self.first_token - self.began) * 1000
        return Streamed(response, first, (monotonic() - self.began) * 1000)


async def stream(model: Model, question: Question, patience: Patience, seconds: float) -> Streamed:
    """Raises Late when it takes too long, and whatever the library raises."""
    watch = Watch(patience, seconds)
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
            model_settings=_settings(question.settings, watch.patience),
            model_request_parameters=_parameters(question.settings),
        ) as response,
    ):
        async for event in response:
            watch.saw(event)
            alarm.reschedule(loop.time() + watch.allowance)
    return watch.streamed(response.get())


def _messages(question: Question) -> list[ModelRequest]:
    prompt = question.prompt
    return [ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(prompt.user)])]


def _settings(settings: AskSettings, patience: Patience) -> ModelSettings:
    sent = OpenRouterModelSettings(
        max_retries=0,  # we retry, and say so
        timeout=patience.first_token,
        openrouter_usage={"include": True},
    )
    if settings.output_tokens is not None:
        sent["max_tokens"] = settings.output_tokens
    if settings.reasoning is not None:
        sent["thinking"] = False if settings.reasoning == "none" else settings.reasoning
    return cast(ModelSettings, sent)


def _parameters(settings: AskSettings) -> ModelRequestParameters:
    return ModelRequestParameters(native_tools=[WebSearchTool()] if settings.web_search else [])


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
