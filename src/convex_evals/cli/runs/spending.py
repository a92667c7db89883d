"""What asking took, or is going to take, in words and as JSON. What is not known is said, never shown as 0."""

from collections.abc import Iterator
from typing import Any

from convex_evals.cli.output import count
from convex_evals.models import CHARACTERS_PER_TOKEN
from convex_evals.runner import Estimate, Spending, Sum, dollars

UNKNOWN = "unknown"


def spending_line(spending: Spending) -> str | None:
    """None: no provider was asked, so there is nothing to say."""
    if not spending.asked and not spending.cached:
        return None
    parts = [_tokens(spending), f"cost {cost_text(spending)}"] if spending.asked else ["nothing was asked"]
    if spending.cached:
        parts.append(f"{count(spending.cached, 'answer')} from the cache, not paid for again")
    return " · ".join(parts)


def cost_text(spending: Spending) -> str:
    """`$0.42 (provider)`, `at least $0.42 (estimated; 2 of 9 unknown)`, `unknown`; empty when nobody was asked."""
    cost = spending.cost
    if not spending.asked:
        return ""
    if cost.value is None:
        return UNKNOWN
    sources = " and ".join(spending.sources)
    if not cost.unknown:
        return f"{dollars(cost.total)} ({sources})"
    return f"at least {dollars(cost.total)} ({sources}; {cost.unknown} of {cost.known + cost.unknown} unknown)"


def spending_json(spending: Spending) -> dict[str, Any]:
    """`usage` and `cost` of a whole run; null is "not known", and `…Unknown` says of how many answers it is not."""
    return {
        "usage": {
            "asked": spending.asked,
            "fromCache": spending.cached,
            "inputTokens": spending.input.value,
            "cachedTokens": spending.cached_input.value,
            "outputTokens": spending.output.value,
            "reasoningTokens": spending.reasoning.value,
            "unknown": max(spending.input.unknown, spending.output.unknown),
        },
        "cost": spending.cost.value,
        "costSource": " and ".join(spending.sources) or UNKNOWN,
        "costUnknown": spending.cost.unknown,
    }


def estimate_lines(estimate: Estimate) -> Iterator[str]:
    """What would be asked, what it would take, and how that is known."""
    name = estimate.model if estimate.experiment == "default" else f"{estimate.model} · {estimate.experiment}"
    asked = [f"{count(estimate.asked, 'answer')} to ask for"]
    asked += [f"{estimate.cached} in the cache"] if estimate.cached else []
    asked += [f"{estimate.stored} stored"] if estimate.stored else []
    if not estimate.asked:
        yield f"{name}: {', '.join(asked)}; it costs nothing"
        return
    tokens = f"about {estimate.input_tokens:,} tokens in, {estimate.output_tokens:,} out"
    yield f"{name}: {', '.join(asked)} · {tokens} · {estimate_cost_text(estimate)}"
    yield f"  estimated: {CHARACTERS_PER_TOKEN} characters of a prompt are a token; {estimate.basis.shown}"


def estimate_cost_text(estimate: Estimate) -> str:
    return "price unknown" if estimate.cost_usd is None else f"about {dollars(estimate.cost_usd)}"


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    return {
        "model": estimate.model,
        "experiment": estimate.experiment,
        "asked": estimate.asked,
        "fromCache": estimate.cached,
        "stored": estimate.stored,
        "inputTokens": estimate.input_tokens,
        "outputTokens": estimate.output_tokens,
        "cost": estimate.cost_usd,
        "outputBasis": {"tokens": estimate.basis.tokens, "generations": estimate.basis.generations},
    }


def _tokens(spending: Spending) -> str:
    inside = _part(spending.cached_input, "cached")
    outside = _part(spending.reasoning, "reasoning")
    return f"{_figure(spending.input)} tokens in{inside}, {_figure(spending.output)} out{outside}"


def _part(sum_: Sum, name: str) -> str:
    return f" ({_figure(sum_)} {name})" if sum_.total else ""


def _figure(sum_: Sum) -> str:
    if sum_.value is None:
        return UNKNOWN
    return f"at least {sum_.total:,.0f}" if sum_.unknown else f"{sum_.total:,.0f}"
