"""Text on a screen of some width: lines are broken between words, and words are never broken."""

import re
from collections.abc import Iterator
from typing import Final

_WORD: Final = re.compile(r"\s*\S+(?: ·(?= ))?")
"""A dot between two facts stays with the first of them."""
_ITEM: Final = re.compile(r"\s*(?:[-*]|\d+\.) +")
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")
_CODE: Final = "    "
_ALONE: Final = re.compile(r"\s*(?:#|\||<!--|$)")
"""Headings, tables, comments and empty lines of Markdown."""


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """`indent` begins the first line, `hanging` the others. A word that no line has room for goes on where it is, and
    the terminal breaks it, so that it can still be copied; a new line for it would not help."""
    lines: list[str] = []
    last = indent
    for found in _WORD.finditer(text):
        word, room = found[0].lstrip(), width - len(hanging)
        fits = _column(last, width) + len(found[0]) <= width
        too_long = len(word) > room and len(last) < width // 2
        if (last == indent and not lines) or fits or too_long:
            last += found[0] if last.strip() else word
        else:
            lines.append(last)
            last = f"{hanging}{word}"
    return [*lines, last] if last.strip() else lines


def _column(line: str, width: int) -> int:
    """Where the terminal goes on, if it had to break the line itself."""
    return len(line) if len(line) <= width else len(line) % width or width


def reflowed(text: str, width: int) -> Iterator[str]:
    """Markdown: paragraphs and the items of lists are filled again; code, tables and headings stay as they are."""
    fence, paragraph = "", ""
    for line in text.splitlines():
        code = _FENCE.match(line)
        is_text = not (fence or code or _ALONE.match(line) or (line.startswith(_CODE) and not paragraph))
        if is_text and paragraph and not _ITEM.match(line):
            paragraph += f" {line.strip()}"
            continue
        yield from _filled(paragraph, width)
        paragraph = line if is_text else ""
        yield from [] if is_text else [line]
        if code:
            fence = "" if fence and line.strip().startswith(fence) else fence or code[1]
    yield from _filled(paragraph, width)


def _filled(paragraph: str, width: int) -> list[str]:
    """The other lines of an item begin where its text does."""
    indent = paragraph[: len(paragraph) - len(paragraph.lstrip())]
    item = _ITEM.match(paragraph)
    return wrapped(paragraph.lstrip(), width, indent, " " * len(item[0]) if item else indent)
