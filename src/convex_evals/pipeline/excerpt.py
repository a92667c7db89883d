"""What reports quote of a text that a model may have had a hand in: short, and without characters that act."""

import re
from typing import Final

LONGEST_LINE: Final = 600
LONGEST: Final = 12_000
# C0 and C1 but tab and newline, the marks that turn text around or hide in it, and lone halves of characters.
_ACTING: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*+[A-Za-z]|\r(?=\n)")


def readable(text: str) -> str:
    """Colours are dropped, other control characters spelled out, long lines and long texts cut."""
    beginning = text[: 20 * LONGEST]
    lines = _ESCAPES.sub("", beginning).split("\n")
    whole = "\n".join(_line(line) for line in lines)
    cut = len(text) > len(beginning) or len(whole) > LONGEST
    return f"{whole[:LONGEST]}\n… (complete in the log)" if cut else whole


def _line(line: str) -> str:
    shown = _ACTING.sub(lambda match: ascii(match[0])[1:-1], line[:LONGEST_LINE])
    return shown if len(line) <= LONGEST_LINE else f"{shown}… ({len(line)} characters)"
