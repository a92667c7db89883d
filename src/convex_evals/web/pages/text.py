"""Text that someone else wrote, made safe to look at: escaped, control characters visible, never endless.

Source text is in colours: lines of marked segments, which pages, diffs and reports put together.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

LONGEST_LINE: Final = 2_000
MOST_LINES: Final = 2_000
_SUSPECT: Final = re.compile(r"[^\t\n -~]")
_CODE: Final = re.compile(r"`([^`]+)`")
LARGEST: Final = 200_000
_LANGUAGES: Final = {
    ".ts": "typescript",
    ".tsx": "tsx",
    ".mts": "typescript",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".json": "json",
    ".css": "css",
    ".html": "html",
    ".py": "python",
    ".md": "markdown",
    ".toml": "toml",
}
_CLASSES: Final = (
    (Comment, "c"),
    (String, "s"),
    (Number, "n"),
    (Keyword, "k"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Tag, "k"),
    (Name.Attribute, "f"),
)


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


class Segment(NamedTuple):
    """`tone` is a class of the stylesheet, or empty."""

    tone: str
    text: str


Line = tuple[Segment, ...]


@lru_cache(maxsize=256)
def highlighted(path: str, text: str) -> tuple[Line, ...]:
    """One per line of the text. What is too large or has endless lines is not coloured."""
    plain = text.removesuffix("\n").split("\n")
    language = _LANGUAGES.get(PurePosixPath(path).suffix)
    if language is None or len(text) > LARGEST or any(len(line) > LONGEST_LINE for line in plain):
        return tuple((Segment("", clipped_line(line)),) for line in plain)
    return tuple(tuple(line) for line in _lines(_lexer(language).get_tokens(text)))[: len(plain)]


def line_markup(line: Iterable[Segment], changed: range = range(0)) -> Markup:
    """`changed` are the characters that a diff marks."""
    return Markup("").join(_segment_markup(each) for each in (_marked(line, changed) if changed else line))


@lru_cache(maxsize=256)
def source_lines(path: str, text: str) -> tuple[Markup, ...]:
    return tuple(line_markup(line) for line in highlighted(path, text))


@lru_cache
def _lexer(language: str) -> Lexer:
    lexer: Lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    return lexer


def _lines(tokens: Iterable[tuple[_TokenType, str]]) -> Iterator[list[Segment]]:
    line: list[Segment] = []
    for kind, value in tokens:
        first, *rest = value.split("\n")
        if first:
            line.append(Segment(_tone(kind), first))
        for part in rest:
            yield line
            line = [Segment(_tone(kind), part)] if part else []
    yield line


@lru_cache(maxsize=256)
def _tone(kind: _TokenType) -> str:
    return next((tone for parent, tone in _CLASSES if kind is parent or parent in kind.split()), "")


def _marked(line: Iterable[Segment], changed: range) -> Iterator[Segment]:
    """The segments, cut where the change begins and ends."""
    position = 0
    for tone, text in line:
        edges = (min(max(edge - position, 0), len(text)) for edge in (changed.start, changed.stop))
        cuts = sorted({0, len(text), *edges})
        for start, stop in pairwise(cuts):
            inside = position + start in changed
            yield Segment(f"{tone} x".strip() if inside else tone, text[start:stop])
        position += len(text)


def _segment_markup(segment: Segment) -> Markup:
    text = escape(shown(segment.text))
    return Markup(f'<span class="{segment.tone}">{text}</span>') if segment.tone else text
