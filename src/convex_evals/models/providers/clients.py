"""The library's model for an entry of the registry. Importing this loads what speaks to providers."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models import Model, create_async_httpx2_client
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from convex_evals.core.settings import Secret
from convex_evals.models.providers.patience import Patience
from convex_evals.models.registry import ModelEntry

ADDRESSES: Final = {
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Said here, because the libraries would otherwise look for others in the environment."""

NO_KEY: Final = "none"
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def http_client(address: str, patience: Patience) -> httpx2.AsyncClient:
    """Proxies of the environment are honoured, but not on the way to this machine itself."""
    timeout = httpx2.Timeout(patience.first_token, connect=patience.connect)
    direct = httpx2.AsyncHTTPTransport() if urlsplit(address).hostname in _LOOPBACK else None
    return create_async_httpx2_client(timeout=timeout, transport=direct)


@dataclass(frozen=True, slots=True)
class Access:
    """Where a model is, and what one is let in with."""

    entry: ModelEntry
    key: Secret | None

    @property
    def address(self) -> str:
        return self.entry.base_url or ADDRESSES[self.entry.api]

    def model(self, http: httpx2.AsyncClient) -> Model:
        match self.entry.api:
            case "openai-responses":
                return OpenAIResponsesModel(self.entry.model, provider=self._openai(http))
            case "anthropic":
                return self._anthropic(http)
            case "google":
                return self._google(http)
            case "openrouter":
                return self._openrouter(http)
            case _:
                return OpenAIChatModel(self.entry.model, provider=self._openai(http))

    def _openai(self, http: httpx2.AsyncClient) -> OpenAIProvider | OpenAICompatibleProvider:
        if self.entry.provider == "openai":
            return OpenAIProvider(openai_client=self._openai_client(http))
        profile = OpenAIModelProfile(
            openai_chat_supports_max_completion_tokens=False,  # the older name is the one that all servers know
            openai_chat_streaming_requires_finish_reason=True,  # without one nobody knows whether that was all
        )
        client = self._openai_client(http)
        return OpenAICompatibleProvider(self.entry.provider, openai_client=client, profile=profile)

    def _openai_client(self, http: httpx2.AsyncClient) -> AsyncOpenAI:
        return AsyncOpenAI(api_key=self._key, base_url=self.address, http_client=http, max_retries=0)

    def _openrouter(self, http: httpx2.AsyncClient) -> Model:
        from pydantic_ai.models.openrouter import OpenRouterModel
        from pydantic_ai.providers.openrouter import OpenRouterProvider

        return OpenRouterModel(self.entry.model, provider=OpenRouterProvider(openai_client=self._openai_client(http)))

    def _anthropic(self, http: httpx2.AsyncClient) -> Model:
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(api_key=self._key, base_url=self.address, http_client=http, max_retries=0)
        return AnthropicModel(self.entry.model, provider=AnthropicProvider(anthropic_client=client))

    def _google(self, http: httpx2.AsyncClient) -> Model:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        provider = GoogleProvider(api_key=self._key, http_client=http, base_url=self.address)
        return GoogleModel(self.entry.model, provider=provider)

    @property
    def _key(self) -> str:
        """The libraries insist on one, and would look for another in the environment."""
        return self.key.reveal() if self.key is not None else NO_KEY
