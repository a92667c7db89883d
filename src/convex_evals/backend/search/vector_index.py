"""Exact nearest neighbours by cosine similarity."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import sqrt
from operator import mul

from convex_evals.backend.ids import DocumentId
from convex_evals.backend.schema import VectorIndexSpec
from convex_evals.backend.search.documents import filter_keys
from convex_evals.backend.search.float32 import float32
from convex_evals.backend.search.vector_query import VectorQuery
from convex_evals.backend.values import Value, field_at, split_path


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
