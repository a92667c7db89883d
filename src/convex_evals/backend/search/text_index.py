"""A full text index in memory, and views of it that include what is not committed yet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from sortedcontainers import SortedDict

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.search.documents import SearchDocument
from convex_evals.backend.search.float32 import float32
from convex_evals.backend.search.query import SearchQuery
from convex_evals.backend.search.relevance import FrequencyPart, term_weight

MAX_CANDIDATES: Final = 1024
MAX_TERMS: Final = 64
PREFIX_BOOST: Final = 0.5

Postings = Mapping[str, int]  # document id -> occurrences


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


def too_many_scanned() -> DeveloperError:
    """For the query that pulls one more result than there are candidates."""
    return DeveloperError(
        f"Search query scanned too many documents (fetched {MAX_CANDIDATES}). Consider using a smaller limit, "
        "paginating the query, or using a filter field to limit the number of documents pulled from the search index."
    )


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
        return sorted(hits, key=lambda hit: hit.rank, reverse=True)[:MAX_CANDIDATES]

    def _scores(self, query: SearchQuery) -> dict[str, float]:
        frequency_part = FrequencyPart(self._tokens, self._count)
        scores: dict[str, float] = {}
        refused: set[str] = set()
        for boost, postings in islice(self._matching_terms(query), MAX_TERMS):
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
