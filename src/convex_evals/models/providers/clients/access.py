"""Where a model is, and what one is let in with."""

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Protocol, cast

import httpx2
from pydantic_ai.models import Model

from convex_evals.core.settings import Secret
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


class Maker(Protocol):
    """The module of an API: `clients/openai.py`, `clients/anthropic.py` and so on."""

    def make_model(self, access: "Access", http: httpx2.AsyncClient) -> Model: ...


@dataclass(frozen=True, slots=True)
class Access:
    entry: ModelEntry
    key: Secret | None
    maker: Maker

    @classmethod
    def to(cls, entry: ModelEntry, key: Secret | None) -> "Access":
        """Loads the library that speaks to this provider, and no other."""
        name = "openai" if entry.api.startswith("openai-") else entry.api
        with warnings.catch_warnings(action="ignore"):  # one of them is compiled with complaints
            module = import_module(f"convex_evals.models.providers.clients.{name}")
        return cls(entry, key, cast(Maker, module))

    @property
    def address(self) -> str:
        return self.entry.base_url or ADDRESSES[self.entry.api]

    @property
    def key_text(self) -> str:
        """The libraries insist on one, and would look for another in the environment."""
        return self.key.reveal() if self.key is not None else NO_KEY

    def model(self, http: httpx2.AsyncClient) -> Model:
        return self.maker.make_model(self, http)
