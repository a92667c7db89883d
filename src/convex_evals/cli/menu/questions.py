"""Questions on the terminal with what there is to choose from. Ctrl-C leaves, as it does everywhere."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import questionary
from questionary import Choice, Style

from convex_evals.cli.layout import wrapped
from convex_evals.cli.models import ListedModel, score
from convex_evals.cli.output import count
from convex_evals.core.text import shortened
from convex_evals.suite import Eval

STYLE: Final = Style([("selected", "noreverse bold"), ("disabled", "fg:ansibrightblack")])
SEVERAL: Final = "(space selects, type to search, enter confirms)"
ONE: Final = "(arrow keys, enter)"
MARK: Final = "? "
"""Begins a question."""
POINTER: Final = " » ○ "
"""Begins a line that can be chosen."""
SHORTEST: Final = 20
HELD: Final = "\0"


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


def ask_several(question: str, offers: Sequence[Offer]) -> list[str]:
    """At least one of them."""
    chosen: list[str] = questionary.checkbox(
        _broken(question, SEVERAL),
        choices=[_choice(offer) for offer in offers],
        instruction=SEVERAL,
        validate=lambda values: bool(values) or "Choose at least one, with the space bar.",
        use_search_filter=True,
        use_jk_keys=False,
        style=STYLE,
    ).unsafe_ask()
    return chosen


def ask_one(question: str, offers: Sequence[Offer]) -> str:
    chosen: str = questionary.select(
        _broken(question, ONE), choices=[_choice(offer) for offer in offers], instruction=ONE, style=STYLE
    ).unsafe_ask()
    return chosen


def ask_text(question: str, default: str, complaint: Callable[[str], str | None]) -> str:
    """`complaint` says what is wrong with a text, if anything is."""
    given: str = questionary.text(
        question, default=default, validate=lambda text: complaint(text) or True, style=STYLE
    ).unsafe_ask()
    return given.strip()


def _choice(offer: Offer) -> Choice:
    reason = len(f" ({offer.refused})") if offer.refused else 0
    room = max(SHORTEST, shutil.get_terminal_size().columns - len(POINTER) - reason)
    return Choice(shortened(offer.title, room), value=offer.value, disabled=offer.refused)


def _broken(question: str, instruction: str) -> str:
    """Between words, where the terminal would do it anywhere; what to press stays whole."""
    held = instruction.replace(" ", HELD)
    lines = wrapped(f"{question} {held}", shutil.get_terminal_size().columns, MARK, " " * len(MARK))
    return "\n".join(lines).removeprefix(MARK).removesuffix(held).rstrip(" ")
