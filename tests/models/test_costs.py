from typing import Any

import pytest

from convex_evals.models.costs import Cost, Tokens, cost_of, estimate_cost
from convex_evals.models.registry import ModelEntry, Price, load_registry

PRICE = Price(input=2.0, output=10.0, cached=0.2)
TOKENS = Tokens(input=1_000_000, output=100_000, cached=500_000)


def entry(provider: str = "local", model: str = "tiny", **changes: Any) -> ModelEntry:
    return ModelEntry(f"{provider}/{model}", model, provider, model, "openai-chat", **changes)


@pytest.mark.parametrize(
    ("price", "tokens", "reported", "cost"),
    [
        (PRICE, TOKENS, None, Cost(1.0 + 0.1 + 1.0, "estimated")),
        (Price(2.0, 10.0), TOKENS, None, Cost(2.0 + 1.0, "estimated")),
        (Price(0, 0), TOKENS, None, Cost(0.0, "estimated")),  # the user says that it costs nothing
        (PRICE, TOKENS, 0.123, Cost(0.123, "provider")),
        (PRICE, TOKENS, 0, Cost(0.0, "provider")),
        (None, TOKENS, None, Cost(None, "unknown")),
        (PRICE, Tokens(), None, Cost(None, "unknown")),
        (PRICE, Tokens(input=5), None, Cost(None, "unknown")),
        (None, Tokens(), "0.5", Cost(None, "unknown")),
        (None, Tokens(), True, Cost(None, "unknown")),
        (None, Tokens(), -1, Cost(None, "unknown")),
    ],
)
def test_a_cost_is_the_providers_or_estimated_or_unknown(
    price: Price | None, tokens: Tokens, reported: object, cost: Cost
) -> None:
    assert cost_of(entry(price=price), tokens, reported) == cost


def test_known_prices_are_used_without_asking_anybody() -> None:
    # Published: 1.75 $ per million tokens of input, 0.175 $ if cached, 14 $ of output.
    cost = cost_of(entry("openai", "gpt-5.2"), Tokens(input=1000, output=100, cached=100))
    assert cost == Cost(pytest.approx((900 * 1.75 + 100 * 0.175 + 100 * 14) / 1e6), "estimated")


@pytest.mark.parametrize("slug", ["local/gpt-5.2", "openai/gpt-from-the-future", "my-box/tiny"])
def test_a_model_without_a_known_price_has_an_unknown_cost(slug: str) -> None:
    provider, _, model = slug.partition("/")
    assert cost_of(entry(provider, model), TOKENS) == Cost()
    assert estimate_cost(entry(provider, model), 1000, 100) is None


def test_what_something_would_cost_is_known_before() -> None:
    assert estimate_cost(entry(price=PRICE), 1_000_000, 100_000) == pytest.approx(3.0)


def test_most_listed_models_have_a_known_price() -> None:
    listed = [each for each in load_registry().models.values() if each.needs_key]
    priced = [each.slug for each in listed if estimate_cost(each, 1000, 1000) is not None]
    assert len(priced) > len(listed) / 2
