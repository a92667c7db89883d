"""One response in the cache: what it answers, what it says, and how it is written down."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Final

from convex_evals.scores import Usage

VERSION: Final = 1
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything that decides what a model is asked. With a `scope`, only that run may use the response."""

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
    """`usage` is what asking took then; whoever takes the response from the cache uses nothing."""

    response: str
    usage: Usage
    asked_at: datetime
    notes: tuple[str, ...] = ()


def to_text(key: CacheKey, cached: CachedResponse) -> str:
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


def from_text(key: CacheKey, text: str) -> CachedResponse:
    """Raises ValueError when it is not, to the last letter, what `to_text` wrote for this key."""
    content = _checked(text)
    if content.get("version") != VERSION or content.get("key") != key.sha256:
        raise ValueError("it was written for another question")
    return _response(content)


def _checked(text: str) -> dict[str, Any]:
    content = json.loads(text)
    if not isinstance(content, dict) or content.pop("sha256", None) != _sha256(content):
        raise ValueError("its content is not what its checksum says")
    return content


def _response(content: Mapping[str, Any]) -> CachedResponse:
    known = {each.name for each in fields(Usage)}
    return CachedResponse(
        response=content["response"],
        usage=Usage(**{name: value for name, value in content["usage"].items() if name in known}),
        asked_at=datetime.fromisoformat(content["askedAt"]),
        notes=tuple(content["notes"]),
    )


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
