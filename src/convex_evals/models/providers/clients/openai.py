"""OpenAI itself (responses and chat completions), and every server that speaks as it does."""

from typing import Final

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from convex_evals.models.providers.clients.access import Access

COMPATIBLE: Final = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
"""The older name of the limit is the one that all servers know."""

COMPLETE: Final = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
"""An answer that does not say why it ended may as well have been cut off."""


def make_model(access: Access, http: httpx2.AsyncClient) -> Model:
    client = openai_client(access, http)
    provider: OpenAIProvider | OpenAICompatibleProvider
    if access.entry.provider == "openai":
        provider = OpenAIProvider(openai_client=client)
    else:
        provider = OpenAICompatibleProvider(access.entry.provider, openai_client=client, profile=COMPATIBLE)
    if access.entry.api == "openai-responses":
        return OpenAIResponsesModel(access.entry.model, provider=provider)
    return OpenAIChatModel(access.entry.model, provider=provider, profile=COMPLETE)


def openai_client(access: Access, http: httpx2.AsyncClient) -> AsyncOpenAI:
    return AsyncOpenAI(api_key=access.key_text, base_url=access.address, http_client=http, max_retries=0)
