"""Google, through the Gemini API."""

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from convex_evals.models.providers.clients.access import Access


def make_model(access: Access, http: httpx2.AsyncClient) -> Model:
    provider = GoogleProvider(api_key=access.key_text, http_client=http, base_url=access.address)
    return GoogleModel(access.entry.model, provider=provider)
