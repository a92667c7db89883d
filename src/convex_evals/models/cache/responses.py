"""The cache itself: a folder per model, a file per response. Any process may be killed at any time."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from convex_evals.core.settings import Settings
from convex_evals.models.cache.entry import CachedResponse, CacheKey, from_text, to_text

FOLDER: Final = "responses"
_ENDING: Final = ".json"
_UNFINISHED: Final = ".part"


@dataclass(frozen=True, slots=True)
class CachedModelSummary:
    """What the cache has of one model."""

    model: str
    responses: int
    size: int  # bytes
    newest: datetime


@dataclass(frozen=True, slots=True)
class ResponseCache:
    """`say` is told, in a sentence, when an entry cannot be used or written. That is never an error: one asks again."""

    folder: Path
    say: Callable[[str], None]

    @classmethod
    def of(cls, settings: Settings, say: Callable[[str], None]) -> "ResponseCache":
        return cls(settings.cache_folder / FOLDER, say)

    def get(self, key: CacheKey) -> CachedResponse | None:
        path = self._path(key)
        try:
            return from_text(key, path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.say(f"The cached response {path} is damaged ({_reason(error)}), so the model is asked again.")
            return None

    def put(self, key: CacheKey, cached: CachedResponse) -> None:
        """Complete and on disk when this returns, or not there at all."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, to_text(key, cached))
        except OSError as error:
            self.say(f"The response cannot be cached in {path.parent} ({_reason(error)}); the run goes on without.")

    def summaries(self) -> tuple[CachedModelSummary, ...]:
        """By model, in the order of their names."""
        return tuple(_summary(folder, files) for folder in self._models() if (files := list(_responses(folder))))

    def clear(self, model: str | None = None) -> int:
        """Removes all responses, or those of one model. Returns how many there were."""
        folders = [folder for folder in self._models() if model is None or _slug(folder) == model]
        removed = sum(1 for folder in folders for _ in _responses(folder))
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        return removed

    def _models(self) -> list[Path]:
        return sorted(each for each in self.folder.iterdir() if each.is_dir()) if self.folder.is_dir() else []

    def _path(self, key: CacheKey) -> Path:
        return self.folder / quote(key.model, safe="") / f"{key.sha256}{_ENDING}"


def _write(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(suffix=_UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _responses(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.suffix == _ENDING)


def _summary(folder: Path, files: list[Path]) -> CachedModelSummary:
    facts = [path.stat() for path in files]
    newest = datetime.fromtimestamp(max(each.st_mtime for each in facts), UTC)
    return CachedModelSummary(_slug(folder), len(files), sum(each.st_size for each in facts), newest)


def _slug(folder: Path) -> str:
    return unquote(folder.name)


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error) or type(error).__name__
