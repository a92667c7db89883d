"""Files in the format that models are asked for."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

_TICKS: Final = re.compile("`+")
_SIMPLE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9./@-]*")
_LANGUAGES: Final = {"md": "markdown", "yml": "yaml"}


def render_files(files: Mapping[str, str]) -> str:
    """A section "Files" that `parse_response` reads back; a last line without an end gets one.

    Raises ValueError for a name that cannot stand in a heading.
    """
    return "\n".join(["# Files\n", *(_section(name, text) for name, text in files.items())])


def _section(name: str, text: str) -> str:
    return f"## {_heading(name)}\n\n{render_block(text, _language(name))}"


def render_block(text: str, language: str) -> str:
    """A code block whose fence is longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}\n"


def _heading(name: str) -> str:
    if not name.isprintable() or "`" in name or name != name.strip() or not name:
        raise ValueError(f"a file name in a heading must be printable, without backticks and outer spaces: {name!r}")
    return name if _SIMPLE_NAME.fullmatch(name) else f"`{name}`"


def _language(name: str) -> str:
    extension = PurePosixPath(name).suffix.removeprefix(".")
    return _LANGUAGES.get(extension, extension) if extension.isalnum() else ""
