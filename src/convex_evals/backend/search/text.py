"""Full text search: what an index keeps of a document, one search with its filters, and the index in memory."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from sortedcontainers import SortedDict

from convex_evals.backend import limits
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.schema import SearchIndexSpec
from convex_evals.backend.search.relevance import FrequencyPart, float32, term_weight
from convex_evals.backend.search.tokens import tokenize
from convex_evals.backend.values import Value, decode_field, field_at, sort_key, split_path

PREFIX_BOOST: Final = 0.5

Postings = Mapping[str, int]  # document id -> occurrences


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


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Equal searches compare equal. The last token also stands for every word that begins with it."""

    tokens: tuple[str, ...]
    filters: tuple[tuple[str, bytes], ...] = ()  # field, sort key of the value

    @classmethod
    def compile(cls, index: str, spec: SearchIndexSpec, filters: Sequence[dict[str, Any]]) -> "SearchQuery":
        """From the `filters` of a query's JSON; `index` is the full name `table.index`. Raises DeveloperError."""
        text: str | None = None
        equalities: list[tuple[str, bytes]] = []
        for item in filters:
            field = str(item["fieldPath"])
            if item["type"] == "Search":
                _check_search(index, spec, field, is_first=text is None)
                text = str(item["value"])
            else:
                _check_equality(index, spec, field)
                equalities.append((field, sort_key(decode_field(item["value"]))))
        if len(equalities) > limits.MAX_SEARCH_FILTERS:
            raise limits.too_many_search_filters(index, len(equalities))
        return cls(tuple(tokenize(text or "")[: limits.MAX_QUERY_TOKENS]), tuple(equalities))

    def accepts(self, document: SearchDocument) -> bool:
        """Whether a document passes the filters. A filter given twice accepts nothing."""
        filters = document.filters
        if any(filters.get(field) != key for field, key in self.filters):
            return False
        return len(set(self.filters)) == len(self.filters)

    def matches(self, document: SearchDocument) -> bool:
        """Whether a document belongs to the results, whatever its rank."""
        return self._has_term(document) and self.accepts(document)

    def _has_term(self, document: SearchDocument) -> bool:
        if any(token in document.terms for token in self.tokens):
            return True
        return bool(self.tokens) and any(term.startswith(self.tokens[-1]) for term in document.terms)


def search_text(index: str, filters: Sequence[dict[str, Any]]) -> str:
    """The text to search for. Empty text finds nothing, before anything else about the query is looked at."""
    for item in filters:
        if item["type"] == "Search":
            return str(item["value"])
    raise DeveloperError(
        f"Search query against {index} does not contain any search filters. "
        'You must include a search filter like `q.search("field", searchText)`.'
    )


def _check_search(index: str, spec: SearchIndexSpec, field: str, *, is_first: bool) -> None:
    if field != spec.search_field:
        raise DeveloperError(
            f'Search query against {index} contains a search filter against "{field}", '
            f'which doesn\'t match the indexed `searchField` "{spec.search_field}".'
        )
    if not is_first:
        raise DeveloperError(
            f'Search query against {index} contains multiple search filters against "{field}". Only one is allowed.'
        )


def _check_equality(index: str, spec: SearchIndexSpec, field: str) -> None:
    if field not in spec.filter_fields:
        raise DeveloperError(
            f'Search query against {index} contains an equality filter on "{field}" '
            "but that field isn't indexed for filtering in `filterFields`."
        )


@dataclass(frozen=True, slots=True)
class Overlay:
    """Differences between the index and what a query should see: new versions, and ids whose old version is gone."""

    added: tuple[SearchDocument, ...] = ()
    removed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    score: float
    creation_time: float
    internal_id: bytes = field(repr=False)

    @property
    def rank(self) -> tuple[float, float, bytes]:
        """Larger is better: the score, then the newer document, then the larger internal id."""
        return self.score, self.creation_time, self.internal_id


class TextIndex:
    """Holds every document of the table, also those without a text: they count in the statistics."""

    def __init__(self) -> None:
        self.documents: dict[str, SearchDocument] = {}
        self.postings: SortedDict = SortedDict()  # term -> dict of document id -> occurrences
        self.tokens = 0

    def add(self, document: SearchDocument) -> None:
        """An earlier version must have been removed."""
        self.documents[document.id] = document
        self.tokens += document.length
        for term, occurrences in document.terms.items():
            self.postings.setdefault(term, {})[document.id] = occurrences

    def remove(self, document_id: str) -> None:
        document = self.documents.pop(document_id)
        self.tokens -= document.length
        for term in document.terms:
            postings = self.postings[term]
            del postings[document_id]
            if not postings:
                del self.postings[term]

    def search(self, query: SearchQuery, overlay: Overlay | None = None) -> list[Hit]:
        """At most `MAX_CANDIDATES`, the best first."""
        return _View(self, overlay or Overlay()).search(query)


class _View:
    """The index as one query sees it."""

    def __init__(self, index: TextIndex, overlay: Overlay) -> None:
        self._index = index
        self._added = {document.id: document for document in overlay.added}
        self._removed = {document_id for document_id in overlay.removed if document_id in index.documents}
        gone = sum(index.documents[document_id].length for document_id in self._removed)
        self._tokens = index.tokens - gone + sum(document.length for document in overlay.added)
        self._count = len(index.documents) - len(self._removed) + len(self._added)

    def search(self, query: SearchQuery) -> list[Hit]:
        if not query.tokens or not self._tokens:
            return []
        hits = [self._hit(document_id, score) for document_id, score in self._scores(query).items()]
        return sorted(hits, key=lambda hit: hit.rank, reverse=True)[: limits.MAX_CANDIDATES]

    def _scores(self, query: SearchQuery) -> dict[str, float]:
        frequency_part = FrequencyPart(self._tokens, self._count)
        scores: dict[str, float] = {}
        refused: set[str] = set()
        for boost, postings in islice(self._matching_terms(query), limits.MAX_TERMS):
            weight = float32(term_weight(self._count, len(postings)) * boost)
            for document_id, occurrences in postings.items():
                if document_id in refused:
                    continue
                document = self._document(document_id)
                if document_id not in scores and not query.accepts(document):
                    refused.add(document_id)
                    continue
                part = float32(weight * frequency_part(occurrences, document.length))
                scores[document_id] = float32(scores.get(document_id, 0.0) + part)
        return scores

    def _matching_terms(self, query: SearchQuery) -> Iterator[tuple[float, Postings]]:
        """Each term once: words of the query first, then words that only begin like its last one."""
        tokens = dict.fromkeys(query.tokens)
        for token in tokens:
            if postings := self._postings(token):
                yield 1.0, postings
        for term in self._terms_with_prefix(query.tokens[-1]):
            if term not in tokens and (postings := self._postings(term)):
                yield PREFIX_BOOST, postings

    def _postings(self, term: str) -> Postings:
        committed: Postings = self._index.postings.get(term, {})
        if not self._added and not self._removed:
            return committed
        kept = {document_id: count for document_id, count in committed.items() if document_id not in self._removed}
        return kept | {document.id: document.terms[term] for document in self._added.values() if term in document.terms}

    def _terms_with_prefix(self, prefix: str) -> Iterator[str]:
        pending = {term for document in self._added.values() for term in document.terms if term.startswith(prefix)}
        if pending:
            yield from sorted(pending.union(self._committed_terms_with_prefix(prefix)))
        else:
            yield from self._committed_terms_with_prefix(prefix)

    def _committed_terms_with_prefix(self, prefix: str) -> Iterator[str]:
        for term in self._index.postings.irange(minimum=prefix):
            if not term.startswith(prefix):
                return
            yield term

    def _document(self, document_id: str) -> SearchDocument:
        return self._added.get(document_id) or self._index.documents[document_id]

    def _hit(self, document_id: str, score: float) -> Hit:
        document = self._document(document_id)
        return Hit(document_id, score, document.creation_time, document.internal_id)
