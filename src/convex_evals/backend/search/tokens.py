"""Words of a text, the same way for documents and for queries."""

import re
from typing import Final

from convex_evals.backend.search.alphabetic import OTHER_ALPHABETIC

MAX_TOKEN_BYTES: Final = 31

_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(rf"(?:[^\W_]|[{OTHER_ALPHABETIC}])+")


def tokenize(text: str) -> list[str]:
    """Lower-cased words in order. Words of 32 bytes or more do not exist for a search."""
    if text.isascii():
        return [word.lower() for word in _ASCII_WORD.findall(text) if len(word) <= MAX_TOKEN_BYTES]
    return [_lower(word) for word in _WORD.findall(text) if len(word.encode()) <= MAX_TOKEN_BYTES]


def _lower(word: str) -> str:
    # Character by character: `str.lower` alone would write a sigma differently at the end of a word.
    return word.replace("Σ", "σ").lower()
