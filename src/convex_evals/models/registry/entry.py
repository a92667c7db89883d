"""One model, as the registry knows it."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from convex_evals.core.settings import PROVIDER_VARIABLES

ApiKind = Literal["openai-responses", "openai-chat", "anthropic", "google", "openrouter", "built-in", "recorded"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. `cached` input costs as much as other input unless it is given."""

    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class ModelEntry:
    slug: str  # provider/model, as users and scores name it
    name: str  # as tables show it
    provider: str
    model: str  # as the provider names it
    api: ApiKind
    base_url: str | None = None  # None: the provider's usual one
    context_tokens: int | None = None
    output_tokens: int | None = None  # the most that is asked for, reasoning included
    reasoning: ReasoningEffort | None = None  # None: whatever the provider does by default
    price: Price | None = None  # overrides every other source
    tags: tuple[str, ...] = ()
    first_seen: date | None = None  # the day the registry first had it
    web_search: bool = False  # whether its provider can let it search
    listed: bool = True  # False: made up from a provider's defaults, because no file lists it

    @property
    def needs_key(self) -> bool:
        """Whether its provider turns everybody away who has none; a server of one's own may, or may not."""
        return self.api not in ("built-in", "recorded") and self.provider in PROVIDER_VARIABLES
