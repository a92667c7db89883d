"""One version of one document."""

from collections.abc import Mapping
from typing import Any

import orjson

from convex_evals.backend.values import CommitTs, Value, decode, dumps, size_of, sort_key

_PLACEHOLDER = '{"$commitTs":null}'  # inside a JSON string the quotes would be escaped, so finding it is proof
_AS_IS = frozenset({str, float, bool, type(None)})


class Document:
    """Immutable. `value` holds the system fields too; `text` and `size` are computed once."""

    __slots__ = ("_key", "_size", "_text", "creation_time", "id", "value")

    def __init__(self, value: dict[str, Value], text: str | None = None) -> None:
        self.value = value
        self.id: str = value["_id"]  # type: ignore[assignment]
        self.creation_time: float = value["_creationTime"]  # type: ignore[assignment]
        self._text = text
        self._size: int | None = None
        self._key: bytes | None = None

    @classmethod
    def restore(cls, text: str) -> "Document":
        """From the text of a document that was stored: whatever its size, it was allowed then."""
        return cls(_restore_fields(orjson.loads(text)), text)

    @classmethod
    def assemble(cls, id: str, creation_time: float, fields: Mapping[str, Value]) -> "Document":
        return cls({**fields, "_id": id, "_creationTime": creation_time})

    @property
    def text(self) -> str:
        """Canonical JSON."""
        if self._text is None:
            self._text = dumps(self.value)
        return self._text

    @property
    def size(self) -> int:
        if self._size is None:
            self._size = size_of(self.value)
        return self._size

    @property
    def fields(self) -> dict[str, Value]:
        """Without the system fields."""
        return {name: item for name, item in self.value.items() if name not in ("_id", "_creationTime")}

    @property
    def id_key(self) -> bytes:
        return self.key[9:]

    @property
    def key(self) -> bytes:
        """Creation time and id: where every index key ends. The key in `by_creation_time`."""
        if self._key is None:
            self._key = sort_key(self.creation_time) + sort_key(self.id)
        return self._key

    def resolved(self, ts: int) -> "Document":
        """With the commit timestamp in place of its placeholder."""
        return Document(_resolve_fields(self.value, ts)) if _PLACEHOLDER in self.text else self

    def __repr__(self) -> str:
        return f"Document({self.text})"


def _restore_fields(json: dict[str, Any]) -> dict[str, Value]:
    return {name: item if type(item) in _AS_IS else _restore(item) for name, item in json.items()}


def _restore(json: Any) -> Value:
    if isinstance(json, list):
        return [_restore(item) for item in json]
    if not isinstance(json, dict):
        return float(json) if type(json) is int else json
    if len(json) == 1 and next(iter(json)).startswith("$"):
        return decode(json)
    return _restore_fields(json)


def _resolve_fields(value: dict[str, Value], ts: int) -> dict[str, Value]:
    return {name: _resolve(item, ts) for name, item in value.items()}


def _resolve(value: Value, ts: int) -> Value:
    if isinstance(value, CommitTs):
        return ts
    if isinstance(value, dict):
        return _resolve_fields(value, ts)
    if isinstance(value, list):
        return [_resolve(item, ts) for item in value]
    return value
