"""Responses that were paid for, kept so that the same question is never paid for twice.

A folder per model, a file per response. Any process may be killed at any time.
"""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from convex_evals.core.files import write_file
from convex_evals.core.settings import Settings
from convex_evals.models.providers import Question, Reply, Transport
from convex_evals.models.registry import ModelEntry
from convex_evals.models.responses import parse_response
from convex_evals.scores import Usage

VERSION: Final = 1
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything that determines what a model is asked. With a `scope`, only that run may use the response."""

    model: str  # its slug
    settings: Mapping[str, Plain]  # how it is asked: effort, limits, address
    prompt: str  # SHA-256 of the text that is sent
    trial: int
    scope: str | None = None

    @property
    def sha256(self) -> str:
        return _sha256({**asdict(self), "settings": dict(self.settings)})


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """`usage` is what asking took then; a response from the cache uses nothing."""

    response: str
    usage: Usage
    asked_at: datetime
    notes: tuple[str, ...] = ()


def _to_text(key: CacheKey, cached: CachedResponse) -> str:
    content = {
        "version": VERSION,
        "key": key.sha256,
        "model": key.model,
        "trial": key.trial,
        "askedAt": cached.asked_at.isoformat(),
        "usage": asdict(cached.usage),
        "notes": list(cached.notes),
        "response": cached.response,
    }
    return json.dumps({"sha256": _sha256(content), **content}, indent=1) + "\n"


def _from_text(key: CacheKey, text: str) -> CachedResponse:
    """Raises ValueError when it is not, to the last letter, what `_to_text` wrote for this key."""
    content = _checked(text)
    if content.get("version") != VERSION or content.get("key") != key.sha256:
        raise ValueError("it was written for another question")
    return _read_response(content)


def _checked(text: str) -> dict[str, Any]:
    content = json.loads(text)
    if not isinstance(content, dict) or content.pop("sha256", None) != _sha256(content):
        raise ValueError("its content is not what its checksum says")
    return content


def _read_response(content: Mapping[str, Any]) -> CachedResponse:
    known = {each.name for each in fields(Usage)}
    return CachedResponse(
        response=content["response"],
        usage=Usage(**{name: value for name, value in content["usage"].items() if name in known}),
        asked_at=datetime.fromisoformat(content["askedAt"]),
        notes=tuple(content["notes"]),
    )


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


FOLDER: Final = "responses"
_ENDING: Final = ".json"


@dataclass(frozen=True, slots=True)
class CachedModelSummary:
    """What the cache has of one model."""

    model: str
    responses: int
    size: int  # bytes
    newest: datetime


@dataclass(frozen=True, slots=True)
class ResponseCache:
    """`say` is told, in a sentence, when an entry cannot be read or written; the model is then asked again."""

    folder: Path
    say: Callable[[str], None]

    @classmethod
    def of(cls, settings: Settings, say: Callable[[str], None]) -> "ResponseCache":
        return cls(settings.cache_folder / FOLDER, say)

    def get(self, key: CacheKey) -> CachedResponse | None:
        path = self._path(key)
        try:
            return _from_text(key, path.read_text(encoding="utf-8"))
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
            write_file(path, _to_text(key, cached), durable=True, mode=0o600)
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


@dataclass(frozen=True, slots=True)
class CachingTransport:
    """A reply is cached before it is returned, so a run that is killed after that need not ask again."""

    inner: Transport
    cache: ResponseCache
    entry: ModelEntry
    scope: str | None = None

    async def ask(self, question: Question) -> Reply:
        key = self.key(question)
        cached = await asyncio.to_thread(self.cache.get, key)
        if cached is not None:
            return _reply(cached)
        reply = await self.inner.ask(question)
        if not parse_response(reply.text, reply.finish_reason).truncated:
            response = CachedResponse(reply.text, reply.usage, datetime.now(UTC), reply.notes)
            await asyncio.to_thread(self.cache.put, key, response)
        return reply

    def has(self, question: Question) -> bool:
        """Whether the answer would come from the cache."""
        return self.cache.get(self.key(question)) is not None

    def key(self, question: Question) -> CacheKey:
        address = {"api": self.entry.api, "model": self.entry.model, "base_url": self.entry.base_url}
        return CacheKey(
            model=self.entry.slug,
            settings={**address, **asdict(question.settings)},
            prompt=hashlib.sha256(question.prompt.text.encode(errors="surrogatepass")).hexdigest(),
            trial=question.trial,
            scope=self.scope,
        )


def _reply(cached: CachedResponse) -> Reply:
    """Nothing was used this time; only how the response ended is still true."""
    return Reply(cached.response, Usage(finish_reason=cached.usage.finish_reason), cached.notes, from_cache=True)
