"""Vector search: exact nearest neighbours by cosine similarity."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import sqrt
from operator import mul
from typing import Any, Final

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.limits import (
    MAX_VECTOR_CONDITIONS,
    MAX_VECTOR_RESULTS,
    too_many_vector_conditions,
    too_many_vector_results,
)
from convex_evals.backend.schema import VectorIndexSpec
from convex_evals.backend.search.text import filter_keys, float32
from convex_evals.backend.values import Value, decode, decode_field, field_at, sort_key, split_path

DEFAULT_LIMIT: Final = 10

Condition = tuple[str, bytes]  # field, sort key of the value


@dataclass(frozen=True, slots=True)
class VectorQuery:
    vector: tuple[float, ...]
    limit: int = DEFAULT_LIMIT
    conditions: frozenset[Condition] = frozenset()  # any of them; without conditions every document

    @classmethod
    def compile(cls, index: str, spec: VectorIndexSpec, query: Mapping[str, Any]) -> "VectorQuery":
        """From the `query` of the syscall; `index` is the full name `table.index`. Raises DeveloperError."""
        limit = DEFAULT_LIMIT if query.get("limit") is None else int(query["limit"])
        if limit > MAX_VECTOR_RESULTS:
            raise too_many_vector_results(limit)
        vector = _parse_vector(query.get("vector"))
        if len(vector) != spec.dimensions:
            raise DeveloperError(f"Expected a vector with dimensions {spec.dimensions}, received {len(vector)}.")
        return cls(vector, limit, _conditions(index, spec, query.get("expressions")))

    def accepts(self, filters: Mapping[str, bytes]) -> bool:
        return not self.conditions or any(filters.get(field) == key for field, key in self.conditions)


def _parse_vector(json: object) -> tuple[float, ...]:
    vector = decode(json)
    if not isinstance(vector, list):
        raise DeveloperError("`vector` must be a non-empty Array in vectorSearch")
    return tuple(item for item in vector if isinstance(item, float))


def _conditions(index: str, spec: VectorIndexSpec, expression: object) -> frozenset[Condition]:
    conditions = frozenset() if expression is None else frozenset(_flattened(expression))
    for field, _ in conditions:
        if field not in spec.filter_fields:
            raise DeveloperError(
                f'Vector query against {index} contains a filter on "{field}" '
                "but that field isn't indexed for filtering in `filterFields`."
            )
    if len(conditions) > MAX_VECTOR_CONDITIONS:
        raise too_many_vector_conditions(index, len(conditions))
    return conditions


def _flattened(expression: object) -> list[Condition]:
    match expression:
        case {"$or": [*alternatives]}:
            return [condition for alternative in alternatives for condition in _flattened(alternative)]
        case {"$eq": [{"$field": str(field)}, {"$literal": value}]}:
            return [(field, sort_key(decode_field(value)))]
        case {"$eq": _}:
            raise DeveloperError("`q.eq` must take a field path as its first argument and a value as its second")
        case _:
            raise DeveloperError("Filters should be a combination of `q.eq` and `q.or`.")


@dataclass(frozen=True, slots=True)
class VectorDocument:
    id: str
    internal_id: bytes
    vector: "array[float]"  # of length 1, or all zeros
    filters: dict[str, bytes]

    @classmethod
    def of(cls, spec: VectorIndexSpec, document: dict[str, Value]) -> "VectorDocument | None":
        """None unless the field holds exactly as many floats as the index has dimensions."""
        vector = field_at(document, split_path(spec.vector_field))
        if not isinstance(vector, list) or len(vector) != spec.dimensions:
            return None
        floats = [item for item in vector if isinstance(item, float)]
        if len(floats) != spec.dimensions:
            return None
        document_id = str(document["_id"])
        internal_id = DocumentId.decode(document_id).internal
        return cls(document_id, internal_id, normalized(floats), filter_keys(spec.filter_fields, document))


@dataclass(frozen=True, slots=True)
class VectorHit:
    id: str
    score: float


class VectorIndex:
    def __init__(self) -> None:
        self._documents: dict[str, VectorDocument] = {}

    def add(self, document: VectorDocument) -> None:
        self._documents[document.id] = document

    def remove(self, document_id: str) -> None:
        """Documents without a usable vector were never added, so an unknown id is fine."""
        self._documents.pop(document_id, None)

    def search(self, query: VectorQuery) -> list[VectorHit]:
        target = normalized(query.vector)
        scored = (
            (float32(sum(map(mul, target, document.vector))), document.internal_id, document.id)
            for document in self._documents.values()
            if query.accepts(document.filters)
        )
        return [VectorHit(document_id, score) for score, _, document_id in nlargest(query.limit, scored)]


def normalized(vector: Sequence[float]) -> "array[float]":
    """Scaled to length 1 and rounded to 32 bits."""
    length = sqrt(sum(map(mul, vector, vector)))
    return array("f", [item / length for item in vector] if length else vector)
