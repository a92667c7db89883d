"""Small changes of a text, and how they look."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters from `start` up to `end` become `text`."""

    start: int
    end: int
    text: str


Change = tuple[Edit, ...]
"""Edits of one file that belong together."""


def apply_edits(text: str, change: Iterable[Edit]) -> str:
    """Edits do not overlap; insertions at one place come in the order of their texts."""
    parts, position = [], 0
    for edit in sorted(change):
        assert edit.start >= position, "edits must not overlap"
        parts += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*parts, text[position:]])


@dataclass(frozen=True, slots=True)
class Difference:
    """The lines that differ, with - and + in front. `line` is the number of the first of them."""

    line: int
    lines: tuple[str, ...]


def difference(before: str, after: str) -> Difference:
    diff = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]
    number = int(diff[0].split()[1].lstrip("-").partition(",")[0]) if diff else 0
    return Difference(number, tuple(line for line in diff if not line.startswith("@@")))
