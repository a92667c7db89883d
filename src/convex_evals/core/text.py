"""Text as we print it: counts, lists, differences of scores, and text from outside, shortened and made safe."""

from collections.abc import Iterable
from typing import Final

_LONG_WORD: Final = 24


def count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(words: Iterable[str], most: int = 5) -> str:
    """`a, b and c`; of many, the first few."""
    given = list(words)
    if len(given) > most:
        return f"{', '.join(given[:most])} and {len(given) - most} more"
    return " and ".join([", ".join(given[:-1]), given[-1]] if len(given) > 1 else given)


def points(difference: float) -> str:
    """A difference of scores, in percentage points."""
    return f"{difference * 100:+.1f}".replace("-", "−")


def shortened(text: str, longest: int = 160) -> str:
    """On one line, cut between words; only a last word that is very long is cut itself."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    whole, _, cut = line[: longest - 1].rpartition(" ")
    return f"{whole} …" if whole and len(cut) <= _LONG_WORD else f"{line[: longest - 1]}…"


def sentence(text: str) -> str:
    """With a full stop, unless it ends like a sentence."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def visible(text: str) -> str:
    """The text with control characters shown, not obeyed: what models and their code print is shown as text."""
    return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)
