"""Files as tags or JSON, the formats of other tools; and code blocks that hold any text."""

import json
import re
from collections.abc import Sequence
from typing import Final

from convex_evals.models.responses.blocks import Candidate, read_block, read_fence
from convex_evals.models.responses.names import Name

_TAG: Final = re.compile(
    r"""<(?P<tag>file|boltAction|code_file)\s(?:[^<>]{0,200}?\s)?(?:path|name|filePath|filename)="""
    r"""["'](?P<name>[^"'\n<>]{1,240})["'][^<>]{0,200}>"""
    r"""(?P<text>.*?)(?P<end></(?P=tag)>|\Z)""",
    re.DOTALL | re.IGNORECASE,
)
_CDATA: Final = re.compile(r"\s*<!\[CDATA\[(?P<text>.*)\]\]>\s*", re.DOTALL)


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


_TICKS: Final = re.compile("`+")


def render_block(text: str, language: str) -> str:
    """A code block whose fence is longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}\n"
