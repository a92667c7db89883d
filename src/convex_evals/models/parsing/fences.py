"""Fenced code blocks, by the rules of CommonMark and a little more forgiving."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_FENCE: Final = re.compile(r"^(?P<indent>[ \t]*)(?P<marker>`{3,}|~{3,})(?P<info>.*)$", re.DOTALL)
_MARKDOWN: Final = frozenset({"md", "mdx", "markdown"})
_DEEPEST: Final = 3  # blocks in blocks; more means that fences are out of step
_ANY: Final = frozenset({"", "text", "txt", "plaintext", "plain"})


@dataclass(frozen=True, slots=True)
class Fence:
    """A line that can open a block, or close one when it has no info string."""

    marker: str
    indent: int
    info: str

    @property
    def language(self) -> str:
        return re.split(r"[\s:{,]", self.info, maxsplit=1)[0].lower()

    @property
    def is_markdown(self) -> bool:
        return self.language in _MARKDOWN

    @property
    def may_wrap(self) -> bool:
        """Whether a model would put its whole answer into such a block."""
        return self.is_markdown or self.info in _ANY

    def is_like(self, other: "Fence") -> bool:
        """Whether this line could be mistaken for one that ends the block of the other."""
        return self.marker.startswith(other.marker) and self.indent <= other.indent + 3

    def closes(self, opening: "Fence") -> bool:
        return not self.info and self.is_like(opening)


@dataclass(frozen=True, slots=True)
class Block:
    fence: Fence
    lines: tuple[str, ...]
    closed: bool
    after: int  # the number of the line after it

    @property
    def text(self) -> str:
        """Every line of a file ends, the last one too."""
        return "".join(f"{line}\n" for line in self.lines)


def read_fence(line: str) -> Fence | None:
    match = _FENCE.match(line) if "```" in line or "~~~" in line else None
    if match is None:
        return None
    info = match["info"].strip()
    if match["marker"].startswith("`") and "`" in info:  # ```code``` in a sentence
        return None
    return Fence(match["marker"], len(match["indent"]), info)


def read_block(lines: Sequence[str], start: int, fence: Fence, *, nests: bool) -> Block:
    """The block that `fence`, in line `start`, opens. One that `nests` holds Markdown, with blocks of its own in it."""
    end = (nests and _balanced_end(lines, start, fence)) or _plain_end(lines, start, fence)
    stop = end or len(lines)
    content = tuple(_outdented(line, fence.indent) for line in lines[start + 1 : stop])
    return Block(fence, content, closed=end is not None, after=stop + 1)


def _plain_end(lines: Sequence[str], start: int, opening: Fence) -> int | None:
    for number in range(start + 1, len(lines)):
        fence = read_fence(lines[number])
        if fence is not None and fence.closes(opening):
            return number
    return None


def _balanced_end(lines: Sequence[str], start: int, opening: Fence) -> int | None:
    """Models write blocks into a block with fences of the same length: then each that opens needs one that closes."""
    inside: list[Fence] = []
    for number in range(start + 1, len(lines)):
        fence = read_fence(lines[number])
        if fence is None or not fence.is_like(opening):
            continue
        if fence.info:
            inside.append(fence)
            if len(inside) > _DEEPEST:
                return None
        elif not inside:
            return number
        elif fence.closes(inside[-1]):
            inside.pop()
    return None


def _outdented(line: str, indent: int) -> str:
    margin = len(line) - len(line.lstrip(" \t"))
    return line[min(indent, margin) :]
