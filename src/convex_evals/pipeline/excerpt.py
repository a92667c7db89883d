"""What reports quote of a text that a model may have had a hand in: short, and without characters that act."""

import re
from typing import Final

LONGEST_LINE: Final = 600
MOST_LINES: Final = 200
LONGEST: Final = 12_000
# C0 and C1 but tab and newline, the marks that turn text around or hide in it, and lone halves of characters.
_ACTING: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*+[A-Za-z]")


def readable(text: str) -> str:
    """Colours are dropped, other control characters spelled out, long lines and long texts cut."""
    lines = text.split("\n", MOST_LINES)
    shown = "\n".join(_line(line) for line in lines[:MOST_LINES])
    cut = len(lines) > MOST_LINES or len(shown) > LONGEST
    return f"{shown[:LONGEST]}\n… (complete in the log)" if cut else shown


def _line(line: str) -> str:
    plain = _ESCAPES.sub("", line[: 4 * LONGEST_LINE]).rstrip("\r")
    shown = _ACTING.sub(lambda match: ascii(match[0])[1:-1], plain[:LONGEST_LINE])
    return f"{shown}… ({len(line)} characters)" if len(plain) > LONGEST_LINE else shown
