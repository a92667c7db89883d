"""An answer against the reference answer: per file, in blocks that stand side by side or one below the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, Literal

from markupsafe import Markup

from convex_evals.web.pages.text import Line, highlighted, line_markup

Kind = Literal["same", "changed", "added", "missing", "large"]
BlockKind = Literal["same", "changed", "gap"]
CONTEXT: Final = 4
MOST_LINES: Final = 4_000


@dataclass(frozen=True, slots=True)
class DiffLine:
    number: int
    markup: Markup


@dataclass(frozen=True, slots=True)
class Block:
    """`old` is the reference's side, `new` the model's. A gap stands for `hidden` lines that are the same."""

    kind: BlockKind
    old: tuple[DiffLine, ...] = ()
    new: tuple[DiffLine, ...] = ()
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class FileDiff:
    """`kind` is from the model's side: it added the file, or it is missing."""

    path: str
    kind: Kind
    blocks: tuple[Block, ...] = ()
    added: int = 0
    removed: int = 0


def compare_answers(reference: Mapping[str, str], answer: Mapping[str, str]) -> tuple[FileDiff, ...]:
    """Every file of both, those that differ first."""
    found = [_compare(path, reference.get(path), answer.get(path)) for path in sorted({*reference, *answer})]
    return tuple(sorted(found, key=lambda each: each.kind == "same"))


@lru_cache(maxsize=256)
def _compare(path: str, old: str | None, new: str | None) -> FileDiff:
    if old == new:
        return FileDiff(path, "same")
    before, after = _lines(path, old), _lines(path, new)
    if max(len(before), len(after)) > MOST_LINES:
        return FileDiff(path, "large")
    blocks = tuple(_blocks(before, after))
    changed = [block for block in blocks if block.kind == "changed"]
    kind: Kind = "added" if old is None else "missing" if new is None else "changed"
    return FileDiff(
        path, kind, blocks, sum(len(block.new) for block in changed), sum(len(block.old) for block in changed)
    )


def _lines(path: str, text: str | None) -> tuple[Line, ...]:
    return () if text is None else highlighted(path, text)


def _blocks(before: Sequence[Line], after: Sequence[Line]) -> Iterator[Block]:
    matcher = SequenceMatcher(None, [_text(line) for line in before], [_text(line) for line in after], autojunk=False)
    end = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if group[0][3] > end:
            yield Block("gap", hidden=group[0][3] - end)
        for tag, old_start, old_stop, new_start, new_stop in group:
            old, new = range(old_start, old_stop), range(new_start, new_stop)
            yield _same(before, after, old, new) if tag == "equal" else _changed(before, after, old, new)
        end = group[-1][4]
    if len(after) > end and end:
        yield Block("gap", hidden=len(after) - end)


def _same(before: Sequence[Line], after: Sequence[Line], old: range, new: range) -> Block:
    return Block(
        "same",
        tuple(DiffLine(index + 1, line_markup(before[index])) for index in old),
        tuple(DiffLine(index + 1, line_markup(after[index])) for index in new),
    )


def _changed(before: Sequence[Line], after: Sequence[Line], old: range, new: range) -> Block:
    """Lines that stand beside each other have what differs marked."""
    marks = [_difference(_text(before[left]), _text(after[right])) for left, right in zip(old, new, strict=False)]
    nothing = (range(0), range(0))
    marks += [nothing] * (max(len(old), len(new)) - len(marks))
    return Block(
        "changed",
        tuple(DiffLine(i + 1, line_markup(before[i], mark[0])) for i, mark in zip(old, marks, strict=False)),
        tuple(DiffLine(i + 1, line_markup(after[i], mark[1])) for i, mark in zip(new, marks, strict=False)),
    )


def _difference(old: str, new: str) -> tuple[range, range]:
    """The characters between what both begin and end with; nothing when little is the same."""
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    if start + end < max(len(old), len(new)) / 3:
        return range(0), range(0)
    return range(start, len(old) - end), range(start, len(new) - end)


def _shared(first: str, second: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(first), len(second)))


def _text(line: Line) -> str:
    return "".join(segment.text for segment in line)
