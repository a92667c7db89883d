"""What an answer costs, and what asking is going to take. What nobody knows is None, never 0."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from convex_evals.models.cache import CachingTransport
from convex_evals.models.model import Model
from convex_evals.models.prompt import Prompt
from convex_evals.models.providers import ProviderModel
from convex_evals.models.registry import ModelEntry, Price
from convex_evals.scores import CostSource, RunFilter
from convex_evals.suite import Eval

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


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


def has_price(entry: ModelEntry) -> bool:
    return estimate_cost(entry, 1, 1) is not None


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


CHARACTERS_PER_TOKEN: Final = 4
ASSUMED_OUTPUT_TOKENS: Final = 4000
RUNS_LOOKED_AT: Final = 5


@dataclass(frozen=True, slots=True)
class OutputBasis:
    """How long an answer is taken to be: the mean of earlier ones, or, when there are none, an assumption."""

    tokens: int
    generations: int

    @property
    def shown(self) -> str:
        if not self.generations:
            return f"answers of {self.tokens:,} tokens are assumed, since there is no earlier run"
        return f"answers of {self.tokens:,} tokens, the mean of {self.generations} in earlier runs"


@dataclass(frozen=True, slots=True)
class Expected:
    """Of one generation. `cost_usd` is None when nobody knows the price."""

    input_tokens: int
    output_tokens: int
    cost_usd: float | None


def output_basis(store: "ScoresStore", model: str) -> OutputBasis:
    """From the latest runs of the model that say how long its answers were."""
    lengths = [
        record.usage.output_tokens
        for run in store.runs(RunFilter(model=model, limit=RUNS_LOOKED_AT))
        for record in store.generations(run.id)
        if record.reused_from is None and record.usage is not None and record.usage.output_tokens
    ]
    return OutputBasis(round(sum(lengths) / len(lengths)) if lengths else ASSUMED_OUTPUT_TOKENS, len(lengths))


def expect_generation(model: Model, asked: Eval, trial: int, output_tokens: int) -> Expected | None:
    """None: nobody has to be asked, since the model needs no provider or its answer is in the cache."""
    if not isinstance(model, ProviderModel) or not isinstance(model.transport, CachingTransport):
        return None
    question = model.question(asked, trial)
    if model.transport.has(question):
        return None
    tokens = count_tokens(question.prompt)
    return Expected(tokens, output_tokens, estimate_cost(model.transport.entry, tokens, output_tokens))


def count_tokens(prompt: Prompt | str) -> int:
    """Roughly: no provider's way of counting is known here."""
    length = len(prompt) if isinstance(prompt, str) else len(prompt.system) + len(prompt.user)
    return -(-length // CHARACTERS_PER_TOKEN)
