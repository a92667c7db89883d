"""Anthropic."""

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from convex_evals.models.providers.clients.access import Access


def make_model(access: Access, http: httpx2.AsyncClient) -> Model:
    client = AsyncAnthropic(api_key=access.key_text, base_url=access.address, http_client=http, max_retries=0)
    return AnthropicModel(access.entry.model, provider=AnthropicProvider(anthropic_client=client))
