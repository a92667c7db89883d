"""The libraries' models for entries of the registry, and what the errors that they raise mean to us.

Importing this loads what speaks to providers.
"""

import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

import httpx2
from pydantic_ai import exceptions as raised
from pydantic_ai.models import Model, create_async_httpx2_client

from convex_evals.core.settings import MASK, Secret, key_variables
from convex_evals.models.providers import errors
from convex_evals.models.providers.retry import RequestPolicy
from convex_evals.models.registry import ADDRESSES, ApiKind, ModelEntry
from convex_evals.scores import Usage

NO_KEY: Final = "none"
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

LONGEST: Final = 300
_CREDENTIALS: Final = re.compile(r"\b(bearer|basic|api[-_ ]?key)(\W{1,4})[^\s\"',;}]{6,}", re.IGNORECASE)
_MESSAGES: Final = ("message", "detail")
"""Where an error's description has its message: at most providers, and at servers that are made with FastAPI."""
LATER: Final = frozenset({408, 409, 425})  # other 4xx statuses do not change when one asks again

MakeModel = Callable[["Access", httpx2.AsyncClient], Model]


@dataclass(frozen=True, slots=True)
class Access:
    """Where a model is, and the key to it."""

    entry: ModelEntry
    key: Secret | None
    make_model: MakeModel

    @classmethod
    def to(cls, entry: ModelEntry, key: Secret | None) -> "Access":
        """Loads the library that speaks to this provider, and no other."""
        with warnings.catch_warnings(action="ignore"):  # one of them raises warnings when it is compiled
            return cls(entry, key, _LIBRARIES[entry.api]())

    @property
    def address(self) -> str:
        return self.entry.base_url or ADDRESSES[self.entry.api]

    @property
    def key_text(self) -> str:
        """The libraries insist on one, and would look for another in the environment."""
        return self.key.reveal() if self.key is not None else NO_KEY

    def model(self, http: httpx2.AsyncClient) -> Model:
        return self.make_model(self, http)


def http_client(address: str, policy: RequestPolicy) -> httpx2.AsyncClient:
    """Proxies of the environment are honoured, but not on the way to this machine itself."""
    timeout = httpx2.Timeout(policy.first_token, connect=policy.connect)
    parts = urlsplit(address)
    secure = parts.scheme == "https"  # preparing TLS takes a while
    direct = httpx2.AsyncHTTPTransport(verify=secure) if parts.hostname in _LOOPBACK else None
    return create_async_httpx2_client(timeout=timeout, transport=direct)


def _openai() -> MakeModel:
    """OpenAI itself (responses and chat completions), and every server that speaks as it does."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # The older name of the limit is the one that all servers know.
    compatible = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    # An answer that does not say why it ended may as well have been cut off.
    complete = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)

    def make_model(access: Access, http: httpx2.AsyncClient) -> Model:
        client = AsyncOpenAI(api_key=access.key_text, base_url=access.address, http_client=http, max_retries=0)
        provider: OpenAIProvider | OpenAICompatibleProvider
        if access.entry.provider == "openai":
            provider = OpenAIProvider(openai_client=client)
        else:
            provider = OpenAICompatibleProvider(access.entry.provider, openai_client=client, profile=compatible)
        if access.entry.api == "openai-responses":
            return OpenAIResponsesModel(access.entry.model, provider=provider)
        return OpenAIChatModel(access.entry.model, provider=provider, profile=complete)

    return make_model


def _openrouter() -> MakeModel:
    """A broker: it says what an answer cost, and who gave it."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    complete = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)

    def make_model(access: Access, http: httpx2.AsyncClient) -> Model:
        client = AsyncOpenAI(api_key=access.key_text, base_url=access.address, http_client=http, max_retries=0)
        return OpenRouterModel(access.entry.model, provider=OpenRouterProvider(openai_client=client), profile=complete)

    return make_model


def _anthropic() -> MakeModel:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    def make_model(access: Access, http: httpx2.AsyncClient) -> Model:
        client = AsyncAnthropic(api_key=access.key_text, base_url=access.address, http_client=http, max_retries=0)
        return AnthropicModel(access.entry.model, provider=AnthropicProvider(anthropic_client=client))

    return make_model


def _google() -> MakeModel:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    def make_model(access: Access, http: httpx2.AsyncClient) -> Model:
        provider = GoogleProvider(api_key=access.key_text, http_client=http, base_url=access.address)
        return GoogleModel(access.entry.model, provider=provider)

    return make_model


_LIBRARIES: Final[dict[ApiKind, Callable[[], MakeModel]]] = {
    "openai-chat": _openai,
    "openai-responses": _openai,
    "openrouter": _openrouter,
    "anthropic": _anthropic,
    "google": _google,
}


@dataclass(frozen=True, slots=True)
class Redaction:
    key: Secret | None

    def quote(self, said: str) -> str:
        """On one line, no longer than a sentence may be, and without the key."""
        shown = " ".join(self.clean(said).split())
        return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"

    def clean(self, said: str) -> str:
        if self.key is not None:
            for form in {self.key.reveal(), quote(self.key.reveal(), safe="")}:
                said = said.replace(form, MASK)
        return _CREDENTIALS.sub(lambda match: f"{match[1]}{match[2]}{MASK}", said)


@dataclass(frozen=True, slots=True)
class Faults:
    """Turns what the libraries raise for one model into errors of ours: one sentence each, without the key."""

    entry: ModelEntry
    redaction: Redaction

    def explain(self, error: Exception) -> errors.ProviderError:
        """Decided by the kind of the exception, which the library finds from statuses and codes."""
        match error:
            case raised.ModelAuthenticationError():
                return errors.ModelUnusableError(self._key_refused(error))
            case raised.ModelQuotaExceededError():
                return errors.ModelUnusableError(self._sentence("has no credit or quota left for this key", error))
            case raised.ModelNotFoundError():
                return errors.ModelUnusableError(self._not_found(error))
            case raised.ModelRateLimitError() | raised.ModelUnavailableError():
                return errors.BusyError(self._sentence("is overloaded or limits our rate", error), error.retry_after)
            case raised.ModelServerError():
                return errors.OutageError(self._sentence("failed", error), error.retry_after)
            case raised.ModelConnectionError():
                return errors.OutageError(self._sentence("cannot be reached, or the connection was lost", error))
            case raised.ModelHTTPError(status_code=status) if status in LATER:
                return errors.OutageError(self._sentence("failed", error), error.retry_after)
            case raised.ModelRequestRejectedError() | raised.ModelHTTPError():
                return errors.RequestRefusedError(self._sentence("refuses the request", error))
            case raised.UserError():
                return errors.ModelUnusableError(self._sentence("cannot be asked with these settings", error))
            case _:
                return errors.ProviderError(self._sentence("sent an unreadable response", error), usages=(Usage(),))

    def _key_refused(self, error: raised.ModelAuthenticationError) -> str:
        """Without the provider's words, because many repeat a part of the key."""
        variables = " or ".join(key_variables(self.entry.provider))
        held = f"the key in {variables}" if self.redaction.key is not None else "us without a key"
        advice = "check it" if self.redaction.key is not None else f"set {variables}"
        return f"{self.entry.slug}: {self._who} refuses {held}{_status(error)}; {advice}."

    def _not_found(self, error: raised.ModelNotFoundError) -> str:
        """Whether it is the model or the whole address that the server does not know, its words tell."""
        about_model = rf"model|\b{re.escape(self.entry.model)}\b"
        if self.entry.base_url is None or re.search(about_model, f"{error.body or ''}", re.IGNORECASE):
            return self._sentence(f"has no model {self.entry.model!r}", error)
        usual = "" if self.entry.base_url.rstrip("/").endswith("/v1") else ": it usually ends in /v1"
        found = self._sentence("has nothing there", error).removesuffix(".")
        return f"{found}; the address (--base-url, or base_url in models.toml) may be wrong{usual}."

    def _sentence(self, what: str, error: Exception) -> str:
        said = self.redaction.quote(_words(error)).rstrip(".")
        return f"{self.entry.slug}: {self._who} {what}{_status(error)}{f': {said}' if said else ''}."

    @property
    def _who(self) -> str:
        return self.entry.base_url or self.entry.provider


def _status(error: Exception) -> str:
    return f" ({error.status_code})" if isinstance(error, raised.ModelHTTPError) else ""


def _words(error: Exception) -> str:
    """The provider's own, if it has any."""
    body = error.body if isinstance(error, raised.ModelAPIError) else None
    inner = body.get("error", body) if isinstance(body, dict) else body
    messages = [inner.get(name) for name in _MESSAGES] if isinstance(inner, dict) else [inner]
    for message in messages:
        if isinstance(message, str) and message.strip():
            return message
    if body:
        return json.dumps(body, ensure_ascii=False, default=str)
    return str(error) or type(error).__name__
