"""Looking variables up in three places, and turning their texts into values or into one-sentence errors."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from convex_evals.core.errors import SettingsError
from convex_evals.core.settings.secret import Secret


@dataclass(frozen=True, slots=True)
class Source:
    """One place that sets variables; `name` says which in error messages."""

    name: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Variables:
    """Variables from several sources, the first of which wins. An empty text is the same as none."""

    sources: tuple[Source, ...]
    cwd: Path
    home: Path

    def text(self, name: str) -> str | None:
        found = self._find(name)
        return found[0] if found else None

    def names(self) -> Iterator[str]:
        return (name for source in self.sources for name in source.values)

    def words(self, name: str) -> tuple[str, ...]:
        """A comma-separated list without blanks and repetitions."""
        parts = (part.strip() for part in (self.text(name) or "").split(","))
        return tuple(dict.fromkeys(part for part in parts if part))

    def secret(self, name: str) -> Secret | None:
        text = self.text(name)
        if text is None:
            return None
        if not (text.isascii() and text.isprintable() and " " not in text):
            raise SettingsError(
                f"{self._origin(name)} must be one word of printable ASCII characters; paste the key again."
            )
        return Secret(text)

    def pattern(self, name: str) -> str | None:
        text = self.text(name)
        try:
            re.compile(text or "")
        except re.error as error:
            raise SettingsError(
                f"{self._origin(name)} must be a regular expression, but {text!r} is not: {error}."
            ) from error
        return text

    def url(self, name: str) -> str | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            parts = urlsplit(text)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise SettingsError(
                f"{self._origin(name)} must be a URL such as https://scores.example.com, but it is {text!r}."
            )
        return text.rstrip("/")

    def folder(self, name: str) -> Path | None:
        """Absolute; it need not exist yet, but nothing else may be in its place."""
        path = self.path(name)
        if path is not None and path.exists() and not path.is_dir():
            raise SettingsError(f"{self._origin(name)} must name a folder, but {str(path)!r} is a file.")
        return path

    def executable(self, name: str) -> Path | None:
        path = self.path(name)
        if path is not None and not (path.is_file() and os.access(path, os.X_OK)):
            raise SettingsError(
                f"{self._origin(name)} must name an executable program, but {str(path)!r} is not one; "
                f"correct the path or remove the setting."
            )
        return path

    def path(self, name: str) -> Path | None:
        text = self.text(name)
        if text is None:
            return None
        if text == "~" or text.startswith("~/"):
            return self.home / text[2:]
        return self.cwd / text

    def _find(self, name: str) -> tuple[str, Source] | None:
        for source in self.sources:
            text = source.values.get(name, "").strip()
            if text:
                return text, source
        return None

    def _origin(self, name: str) -> str:
        found = self._find(name)
        return f"{name} ({found[1].name})" if found else name
