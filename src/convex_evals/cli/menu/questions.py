"""Questions on the terminal. Ctrl-C leaves, as it does everywhere."""

from collections.abc import Callable, Sequence
from typing import Final

import questionary
from questionary import Choice, Style

from convex_evals.cli.menu.choices import Offer

STYLE: Final = Style([("selected", "noreverse bold"), ("disabled", "fg:ansibrightblack")])
SEVERAL: Final = "(space chooses, letters search, enter goes on)"
ONE: Final = "(arrows, enter)"


def ask_several(question: str, offers: Sequence[Offer]) -> list[str]:
    """At least one of them."""
    chosen: list[str] = questionary.checkbox(
        question,
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
        question, choices=[_choice(offer) for offer in offers], instruction=ONE, style=STYLE
    ).unsafe_ask()
    return chosen


def ask_text(question: str, default: str, complaint: Callable[[str], str | None]) -> str:
    """`complaint` says what is wrong with a text, if anything is."""
    given: str = questionary.text(
        question, default=default, validate=lambda text: complaint(text) or True, style=STYLE
    ).unsafe_ask()
    return given.strip()


def _choice(offer: Offer) -> Choice:
    return Choice(offer.title, value=offer.value, disabled=offer.refused)
