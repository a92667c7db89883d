"""OpenRouter, a broker: it says what an answer cost, and who gave it."""

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers.openrouter import OpenRouterProvider

from convex_evals.models.providers.clients.access import Access
from convex_evals.models.providers.clients.openai import COMPLETE, openai_client


def make_model(access: Access, http: httpx2.AsyncClient) -> Model:
    provider = OpenRouterProvider(openai_client=openai_client(access, http))
    return OpenRouterModel(access.entry.model, provider=provider, profile=COMPLETE)
