"""The code blocks of a response, by the rules of CommonMark and a little more forgiving, each with its file name.

And files as tags or JSON, the formats of other tools; and code blocks that hold any text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from convex_evals.models.responses.names import (
    Name,
    is_files_heading,
    name_in_comment,
    name_in_heading,
    name_in_info,
    name_in_label,
)

_FENCE: Final = re.compile(r"^(?P<indent>[ \t]*)(?P<marker>`{3,}|~{3,})(?P<info>.*)$", re.DOTALL)
_MARKDOWN: Final = frozenset({"md", "mdx", "markdown"})
_DEEPEST: Final = 3  # blocks in blocks; more means that fences are out of step
_ANY: Final = frozenset({"", "text", "txt", "plaintext", "plain"})
_TAG: Final = re.compile(
    r"""<(?P<tag>file|boltAction|code_file)\s(?:[^<>]{0,200}?\s)?(?:path|name|filePath|filename)="""
    r"""["'](?P<name>[^"'\n<>]{1,240})["'][^<>]{0,200}>"""
    r"""(?P<text>.*?)(?P<end></(?P=tag)>|\Z)""",
    re.DOTALL | re.IGNORECASE,
)
_TICKS: Final = re.compile("`+")
_CDATA: Final = re.compile(r"\s*<!\[CDATA\[(?P<text>.*)\]\]>\s*", re.DOTALL)


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
            self.notes.append("The whole answer is in one code block.")
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
        """Whether the block is not a file, but begins with a heading of the answer itself."""
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


def files_in_tags(text: str) -> list[Candidate]:
    """<file path="convex/a.ts">…</file>"""
    return [
        _candidate(match["name"], _between_tags(match["text"]), complete=bool(match["end"]))
        for match in _TAG.finditer(text)
    ]


def files_in_json(text: str, blocks: Sequence[str]) -> list[Candidate]:
    """{"files": {"convex/a.ts": "…"}} or {"files": [{"path": "convex/a.ts", "content": "…"}]}, alone or in a block."""
    for source in (text, *blocks):
        found = _entries(source)
        if found:
            return [_candidate(name, content) for name, content in found.items()]
    return []


def _entries(source: str) -> dict[str, str]:
    try:
        value = json.loads(source)
    except (ValueError, RecursionError):
        return {}
    files = value.get("files") if isinstance(value, dict) else None
    if isinstance(files, dict):
        return {name: content for name, content in files.items() if isinstance(content, str)}
    found: dict[str, str] = {}
    for entry in files if isinstance(files, list) else []:
        name, content = _member(entry, "path", "name", "filename"), _member(entry, "content", "contents", "code")
        if name is not None and content is not None:
            found[name] = content
    return found


def _member(entry: object, *keys: str) -> str | None:
    values = (entry.get(key) for key in keys) if isinstance(entry, dict) else ()
    return next((value for value in values if isinstance(value, str)), None)


def _between_tags(text: str) -> str:
    data = _CDATA.fullmatch(text)
    lines = (data["text"] if data else text).strip("\r\n").split("\n")
    fence = read_fence(lines[0])
    return read_block(lines, 0, fence, nests=True).text if fence else "\n".join(lines)


def _candidate(name: str, text: str, *, complete: bool = True) -> Candidate:
    line_end = "" if not text or text.endswith("\n") else "\n"
    return Candidate(Name(name, certain=True), text + line_end, complete)


def render_block(text: str, language: str) -> str:
    """A code block whose fence is longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}\n"
