"""Full text and vector search over the documents of one table, in memory."""

from convex_evals.backend.search.documents import SearchDocument
from convex_evals.backend.search.query import SearchQuery, search_text
from convex_evals.backend.search.text_index import MAX_CANDIDATES, Hit, Overlay, TextIndex, too_many_scanned
from convex_evals.backend.search.tokens import tokenize
from convex_evals.backend.search.vector_index import VectorDocument, VectorHit, VectorIndex
from convex_evals.backend.search.vector_query import VectorQuery

__all__ = [
    "MAX_CANDIDATES",
    "Hit",
    "Overlay",
    "SearchDocument",
    "SearchQuery",
    "TextIndex",
    "VectorDocument",
    "VectorHit",
    "VectorIndex",
    "VectorQuery",
    "search_text",
    "tokenize",
    "too_many_scanned",
]
