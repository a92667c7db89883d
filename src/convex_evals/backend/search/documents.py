"""What a search index keeps of a document."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from convex_evals.backend.ids import DocumentId
from convex_evals.backend.schema import SearchIndexSpec
from convex_evals.backend.search.tokens import tokenize
from convex_evals.backend.values import Value, field_at, sort_key, split_path


@dataclass(frozen=True, slots=True)
class SearchDocument:
    id: str
    internal_id: bytes
    creation_time: float
    terms: Mapping[str, int]  # how often each one occurs
    length: int  # in tokens
    filters: Mapping[str, bytes]  # sort key of each filter field, undefined included

    @classmethod
    def of(cls, spec: SearchIndexSpec, document: dict[str, Value]) -> "SearchDocument":
        """From a complete document, system fields included."""
        document_id, creation_time = document["_id"], document["_creationTime"]
        assert isinstance(document_id, str)
        assert isinstance(creation_time, float)
        text = field_at(document, split_path(spec.search_field))
        tokens = tokenize(text) if isinstance(text, str) else []
        return cls(
            id=document_id,
            internal_id=DocumentId.decode(document_id).internal,
            creation_time=creation_time,
            terms=Counter(tokens),
            length=len(tokens),
            filters=filter_keys(spec.filter_fields, document),
        )


def filter_keys(fields: tuple[str, ...], document: dict[str, Value]) -> dict[str, bytes]:
    return {field: sort_key(field_at(document, split_path(field))) for field in fields}
