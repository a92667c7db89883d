"""The configuration files of a project: which settings of convex.json count, and JSON as tsconfig files have it.

The CLI reads our copy of convex.json, so that it cannot find its functions in another folder than we do.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import Place

DEFAULT_FOLDER: Final = "convex"
FILE: Final = "convex.json"
# Everything else starts programs, calls services or is about the user's account.
_KEPT: Final = ("$schema", "functions", "node", "generateCommonJSApi", "codegen", "bundler")
# Possessive, and an end that is missing is the end of the text: no text takes more than one pass.
_STRING: Final = r'"(?:[^"\\]|\\.)*+(?:"|\Z)'
# A possessive group must hold no lookahead: Python 3.11.2, which Debian 12 has, does not match it.
_TOKEN: Final = re.compile(rf"{_STRING}|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)


class ConfigError(Exception):
    """convex.json cannot be read; the message says why."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.place = Place(FILE, line, column)


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """`settings` is what the CLI gets to see, None without a file; `ignored` are the keys that it does not."""

    settings: dict[str, object] | None
    ignored: tuple[str, ...] = ()

    @property
    def functions(self) -> str | None:
        functions = (self.settings or {}).get("functions")
        return functions if isinstance(functions, str) else None

    @property
    def folder(self) -> str:
        """Where the functions are, relative to the project."""
        return (self.functions or DEFAULT_FOLDER).removeprefix("./").strip("/") or DEFAULT_FOLDER


def parse_config(text: str) -> ProjectConfig:
    """Plain JSON, as for the CLI. Raises ConfigError."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        message = f"convex.json is not valid JSON ({place}: {error.msg})."
        raise ConfigError(message, error.lineno, error.colno) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError("convex.json holds a number that is too long, or is nested too deeply.") from error
    if not isinstance(content, dict):
        raise ConfigError("convex.json must hold a JSON object.")
    kept = {name: value for name, value in content.items() if name in _KEPT}
    return ProjectConfig(kept, tuple(sorted(name for name in content if name not in _KEPT)))


def read_config(project: Path) -> ProjectConfig:
    """Raises ConfigError."""
    path = project / FILE
    if not path.exists():
        return ProjectConfig(None)
    try:
        return parse_config(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("convex.json must be a file with text in UTF-8.") from error


def parse_jsonc(text: str) -> object:
    """JSON with comments and trailing commas. Raises ValueError for anything else."""
    bare = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text.removeprefix("\ufeff"))
    try:
        content: object = json.loads(_TRAILING_COMMA.sub(lambda match: match[1] or "", bare), strict=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return content
