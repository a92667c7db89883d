"""What there is to choose from, in the order in which it is offered."""

from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.cli.models.listing import ListedModel, score
from convex_evals.cli.output import count
from convex_evals.suite import Eval


@dataclass(frozen=True, slots=True)
class Offer:
    """One line of a question. What is `refused` is shown with the reason, but cannot be chosen."""

    value: str
    title: str
    refused: str | None = None


def offer_models(models: Sequence[ListedModel]) -> list[Offer]:
    """Those with a key first, then those that need none."""
    usable = sorted((each for each in models if each.ready), key=lambda each: not each.entry.needs_key)
    return [_offer_model(each) for each in usable]


def offer_missing(models: Sequence[ListedModel]) -> list[Offer]:
    """One line for each provider whose key is missing: to be seen, not chosen."""
    missing: dict[str, list[ListedModel]] = {}
    for each in models:
        if not each.ready:
            missing.setdefault(each.entry.provider, []).append(each)
    return [
        Offer(provider, f"{provider} · {count(len(members), 'model')}", members[0].key)
        for provider, members in missing.items()
    ]


def offer_categories(evals: Sequence[Eval]) -> list[Offer]:
    sizes: dict[str, int] = {}
    for each in evals:
        sizes[each.category] = sizes.get(each.category, 0) + 1
    return [Offer(category, f"{category} ({size})") for category, size in sizes.items()]


def offer_evals(evals: Sequence[Eval]) -> list[Offer]:
    return [Offer(each.id, each.id) for each in evals]


def _offer_model(each: ListedModel) -> Offer:
    entry = each.entry
    last = f" · last {score(each.last)}" if each.last else ""
    return Offer(entry.slug, f"{entry.slug} · {entry.name}{last}")
