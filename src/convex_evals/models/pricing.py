"""What an answer costs. What nobody knows is None, never 0."""

from dataclasses import dataclass
from typing import Final

from convex_evals.models.registry import ModelEntry, Price
from convex_evals.scores import CostSource

MILLION: Final = 1_000_000
_PRICE_LISTS: Final = {"moonshot": "moonshotai", "xai": "x-ai"}
"""Providers that genai-prices knows by another name than ours."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """None is "not said". `cached` and `written`, to the provider's cache, are parts of the input."""

    input: int | None = None
    output: int | None = None
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    usd: float | None = None
    source: CostSource = "unknown"


def cost_of(entry: ModelEntry, tokens: Tokens, reported: object = None) -> Cost:
    """`reported` is what the provider says it took, whatever that is; only an amount counts."""
    if isinstance(reported, int | float) and not isinstance(reported, bool) and reported >= 0:
        return Cost(float(reported), "provider")
    if tokens.input is None or tokens.output is None:
        return Cost()
    usd = _by_price(entry.price, tokens) if entry.price is not None else _by_list(entry, tokens)
    return Cost() if usd is None else Cost(usd, "estimated")


def estimate_cost(entry: ModelEntry, prompt_tokens: int, output_tokens: int) -> float | None:
    """In US dollars, before anything is asked; None when nobody knows the price."""
    return cost_of(entry, Tokens(prompt_tokens, output_tokens)).usd


def _by_price(price: Price, tokens: Tokens) -> float:
    cached = price.input if price.cached is None else price.cached
    fresh = (tokens.input or 0) - tokens.cached
    return (fresh * price.input + tokens.cached * cached + (tokens.output or 0) * price.output) / MILLION


def _by_list(entry: ModelEntry, tokens: Tokens) -> float | None:
    """From the prices that genai-prices was released with; nothing is fetched."""
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cached or None,
        cache_write_tokens=tokens.written or None,
        output_tokens=tokens.output,
    )
    provider = _PRICE_LISTS.get(entry.provider, entry.provider)
    try:
        return float(calc_price(usage, entry.model, provider_id=provider).total_price)
    except LookupError:
        return None
