"""Variables from options, the environment and the `.env` file, as values or as one-sentence errors."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from convex_evals.core.errors import SettingsError
from convex_evals.core.settings.secret import Secret


def is_service_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not parts.username
    except ValueError:
        return False


def shown_url(text: str) -> str:
    """Quoted, unless there may be a password in it."""
    return repr(text) if "@" not in text else "one with a user or a password in it (not shown)"


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
        """A comma-separated list, without empty items and duplicates."""
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
        if not is_service_url(text):
            raise SettingsError(
                f"{self._origin(name)} must be a URL such as https://scores.example.com, but it is {shown_url(text)}."
            )
        return text.rstrip("/")

    def folder(self, name: str) -> Path | None:
        """Absolute; it need not exist yet, but must not be something else."""
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


ENV_FILE = ".env"
PROJECT_FILE = "convex-evals.toml"


def find_file(name: str, cwd: Path, home: Path) -> Path | None:
    """The nearest file of this name from `cwd` upward, inside the git repository or the home folder that holds `cwd`.

    Outside both only `cwd` itself counts: a file in a shared folder such as /tmp may be someone else's.
    """
    folders = [cwd, *cwd.parents]
    boundary = next((folder for folder in folders if folder == home or (folder / ".git").exists()), cwd)
    for folder in folders[: folders.index(boundary) + 1]:
        if (folder / name).is_file():
            return folder / name
    return None


def read_env_file(path: Path) -> dict[str, str]:
    """Its variables. Values are taken literally: a dollar sign in a key is a dollar sign."""
    from dotenv.parser import parse_stream

    values: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for binding in parse_stream(stream):
                if binding.error:
                    # The line itself may hold a key, so the message has only its number.
                    raise SettingsError(
                        f"{path}, line {_line_number(binding.original)}: write NAME=value on this line."
                    )
                if binding.key is not None and binding.value is not None:
                    values[binding.key] = binding.value
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} must be UTF-8 text; save it in that encoding.") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    return values


def _line_number(original: object) -> int:
    line = getattr(original, "line", 1)
    blank = len(text := getattr(original, "string", "")) - len(text.lstrip())
    return int(line) + text[:blank].count("\n")
