"""A model of a provider: from an entry of the registry to what asks it and reads its reply for files."""

import asyncio
from dataclasses import dataclass, field, replace

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import Secret, Settings, key_variables
from convex_evals.models.prompt import PromptSettings, prompt_for
from convex_evals.models.providers.question import AskSettings, Question, Reply, Transport
from convex_evals.models.providers.retry import Limits, RequestPolicy, RetryTransport
from convex_evals.models.registry import ModelEntry
from convex_evals.models.responses import parse_response
from convex_evals.scores import Generation
from convex_evals.suite import Eval


def has_key(entry: ModelEntry, settings: Settings) -> bool:
    """Whether the model could be asked, as far as keys go."""
    return not entry.needs_key or settings.provider_key(entry.provider) is not None


def require_key(entry: ModelEntry, settings: Settings) -> Secret | None:
    """None: the model needs none. Raises UsageError when it does and there is none."""
    if not has_key(entry, settings):
        raise UsageError(missing_key(entry))
    return settings.provider_key(entry.provider)


def missing_key(entry: ModelEntry) -> str:
    variables = " or ".join(key_variables(entry.provider))
    return f"{entry.slug} needs a key: set {variables} in the environment or in .env."


@dataclass(frozen=True, slots=True)
class ProviderModel:
    """`name` is the slug, `provider` the one that the registry says."""

    name: str
    provider: str
    transport: Transport
    prompt_settings: PromptSettings
    ask_settings: AskSettings

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    def question(self, asked: Eval, trial: int) -> Question:
        return Question(prompt_for(asked, self.prompt_settings), self.ask_settings, trial)

    async def generate(self, asked: Eval, trial: int) -> Generation:
        question = self.question(asked, trial)
        reply = await self.transport.ask(question)
        parsed = parse_response(reply.text, reply.finish_reason)
        return Generation(
            prompt=question.prompt.text,
            response=reply.text,
            files=parsed.files,
            usage=reply.usage,
            from_cache=reply.from_cache,
            unusable=reply.unusable,
            truncated=parsed.truncated,
            notes=(*reply.notes, *parsed.notes, *parsed.problems),
        )


def open_provider(
    entry: ModelEntry,
    settings: Settings,
    *,
    base_url: str | None = None,
    limits: Limits | None = None,
    policy: RequestPolicy | None = None,
    needs_key: bool = True,
) -> Transport:
    """Raises UsageError, in one sentence, when the model cannot be asked: no key, no address.

    Models that are asked by the same command share `limits`. Nothing is loaded before the first question.
    """
    entry = replace(entry, base_url=base_url or entry.base_url)
    if entry.api in ("built-in", "recorded"):
        raise UsageError(f"{entry.slug} is built in and has no provider to ask.")
    if entry.api == "openai-chat" and entry.base_url is None and entry.provider != "openai":
        raise UsageError(
            f"{entry.slug} needs the address of its server: give it with --base-url, as in http://127.0.0.1:8080/v1, "
            f"or in ./models.toml."
        )
    key = require_key(entry, settings) if needs_key else settings.provider_key(entry.provider)
    return _LazyTransport(entry, key, limits or Limits(), policy or RequestPolicy())


@dataclass(slots=True)
class _LazyTransport:
    """Loads the libraries when the first question is asked, in a thread, because that takes seconds."""

    entry: ModelEntry
    key: Secret | None
    limits: Limits
    policy: RequestPolicy
    _opened: RetryTransport | None = field(default=None, init=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    async def ask(self, question: Question) -> Reply:
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open)
        return await self._opened.ask(question)

    def _open(self) -> RetryTransport:
        from convex_evals.models.providers.clients import Access, Faults, Redaction
        from convex_evals.models.providers.stream import StreamingClient

        client = StreamingClient(Access.to(self.entry, self.key), Faults(self.entry, Redaction(self.key)), self.policy)
        return RetryTransport(client, self.limits.of(self.entry.provider, self.key), self.policy)
