"""The libraries' models for entries of the registry. Importing this loads what speaks to providers."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.models import Model, create_async_httpx2_client

from convex_evals.core.settings import Secret
from convex_evals.models.providers.retry import RequestPolicy
from convex_evals.models.registry import ADDRESSES, ApiKind, ModelEntry

NO_KEY: Final = "none"
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

MakeModel = Callable[["Access", httpx2.AsyncClient], Model]


@dataclass(frozen=True, slots=True)
class Access:
    """Where a model is, and what one is let in with."""

    entry: ModelEntry
    key: Secret | None
    make_model: MakeModel

    @classmethod
    def to(cls, entry: ModelEntry, key: Secret | None) -> "Access":
        """Loads the library that speaks to this provider, and no other."""
        with warnings.catch_warnings(action="ignore"):  # one of them is compiled with complaints
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
    secure = parts.scheme == "https"  # making ready for that takes a while
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
