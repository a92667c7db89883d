"""Text that someone else wrote, made safe to look at: escaped, control characters visible, never endless."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

LONGEST_LINE: Final = 2_000
MOST_LINES: Final = 2_000
_SUSPECT: Final = re.compile(r"[^\t\n -~]")
_CODE: Final = re.compile(r"`([^`]+)`")


def shown(text: str) -> Markup:
    """Text as text. What would be obeyed or invisible (ANSI, bidi controls, NUL) is spelled out."""
    if text.isascii() and text.isprintable():
        return escape(text)
    parts: list[str] = []
    end = 0
    for found in _SUSPECT.finditer(text):
        if found[0].isprintable():
            continue
        parts += [str(escape(text[end : found.start()])), _spelled(found[0])]
        end = found.end()
    return Markup("".join([*parts, str(escape(text[end:]))]))


def with_code(text: str) -> Markup:
    """What stands between backticks in our own sentences becomes code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def _spelled(character: str) -> str:
    name = unicodedata.name(character, f"U+{ord(character):04X}")
    return f'<span class="control" title="{escape(name)}">{escape(ascii(character)[1:-1])}</span>'


@dataclass(frozen=True, slots=True)
class Clipped:
    """As much of a text as a page shows. `lines` and `characters` are what is left out."""

    text: str
    lines: int = 0
    characters: int = 0

    @property
    def is_cut(self) -> bool:
        return bool(self.lines or self.characters)


def clipped(text: str, lines: int = MOST_LINES, width: int = LONGEST_LINE) -> Clipped:
    """The first lines, each cut where it becomes too long to read."""
    every = text.split("\n")
    kept = every[:lines]
    too_long = sum(max(0, len(line) - width) for line in kept)
    return Clipped("\n".join(clipped_line(line, width) for line in kept), len(every) - len(kept), too_long)


def clipped_line(line: str, width: int = LONGEST_LINE) -> str:
    return line if len(line) <= width else f"{line[:width]}… ({len(line) - width:,} more characters)"
