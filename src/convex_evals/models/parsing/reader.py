"""Walks through the Markdown of a response and collects its code blocks, each with the name it has, if any."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from convex_evals.models.parsing.fences import Block, Fence, read_block, read_fence
from convex_evals.models.parsing.names import (
    Name,
    is_files_heading,
    name_in_comment,
    name_in_heading,
    name_in_info,
    name_in_label,
)

_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(?P<text>.*?)(?:[ \t]+#+)?[ \t]*\r?$")
_LONGEST_LINE: Final = 300  # that may hold a name; also keeps the search for one cheap, whatever a model writes
_UNDERLINE: Final = re.compile(r"^ {0,3}(?:=+|-{2,})[ \t]*\r?$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block that may be a file. `below_files`: it stands below a heading that says so."""

    name: Name | None
    text: str
    complete: bool
    below_files: bool = False


class Reader:
    """One pass over the lines. Blocks are skipped as a whole, so nothing in a file is taken for a heading."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.notes: list[str] = []
        self.open_at_end = False
        self._below_files = False
        self._heading: Name | None = None  # of the file whose block has not come yet
        self._wrapper: Fence | None = None
        self._label = ""  # the last line that is not blank

    def read(self, lines: Sequence[str]) -> None:
        number = 0
        while number < len(lines):
            fence = read_fence(lines[number])
            number = self._read_fence(lines, number, fence) if fence else self._read_line(lines, number)
        self.open_at_end = self.open_at_end or self._wrapper is not None

    def _read_line(self, lines: Sequence[str], number: int) -> int:
        line = _if_short(lines[number])
        heading = _HEADING.match(line)
        if heading:
            self._read_heading(heading["text"])
        elif _UNDERLINE.match(line) and number > 0 and lines[number - 1].strip():
            self._read_heading(_if_short(lines[number - 1]).strip())
        elif lines[number].strip():
            self._label = line.strip()
        return number + 1

    def _read_heading(self, text: str) -> None:
        self._label = ""
        if is_files_heading(text):
            self._below_files, self._heading = True, None
        else:
            self._heading = name_in_heading(text, in_files=self._below_files)

    def _read_fence(self, lines: Sequence[str], number: int, fence: Fence) -> int:
        if self._opens_wrapper(lines, number, fence):
            self._wrapper = fence
            self.notes.append("The whole answer stands in one code block.")
            return number + 1
        name = self._name_outside(fence)
        nests = fence.is_markdown or (name is not None and name.text.lower().endswith((".md", ".mdx")))
        block = read_block(lines, number, fence, nests=nests)
        if not block.closed and self._wrapper is not None and fence.closes(self._wrapper):
            self._wrapper = None
            return number + 1
        self._take(block, name)
        return block.after

    def _opens_wrapper(self, lines: Sequence[str], number: int, fence: Fence) -> bool:
        """Whether the block is no file, but begins with a heading of the answer itself."""
        if self._wrapper or self.candidates or not fence.may_wrap or self._name_outside(fence):
            return False
        first = next((line for line in lines[number + 1 :] if line.strip()), "")
        heading = _HEADING.match(_if_short(first))
        return heading is not None and (
            is_files_heading(heading["text"]) or name_in_heading(heading["text"], in_files=False) is not None
        )

    def _name_outside(self, fence: Fence) -> Name | None:
        """The name of a block as its info string, the line before it or the heading above it have it."""
        info = name_in_info(_if_short(fence.info))
        label = name_in_label(self._label) if self._label else None
        nearest = label if label and (label.certain or not self._heading) else self._heading
        if info and not (nearest and nearest.certain and nearest.text.endswith(f"/{info}")):
            return Name(info, certain=True)
        return nearest

    def _take(self, block: Block, outside: Name | None) -> None:
        text, name = block.text, outside
        comment = name_in_comment(_if_short(block.lines[0]), block.fence.language) if block.lines else None
        if comment and (outside is None or not (outside.certain or self._heading)):
            name = Name(comment, certain=False)
            if comment.lower().endswith(".json"):  # there it is a label, for JSON has no comments
                text = "".join(f"{line}\n" for line in block.lines[1:])
        self.candidates.append(Candidate(name, text, block.closed, self._below_files))
        self.open_at_end = self.open_at_end or not block.closed
        self._heading, self._label = None, ""


def _if_short(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else ""
