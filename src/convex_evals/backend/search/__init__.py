"""Full text and vector search over the documents of one table, in memory."""

from convex_evals.backend.search.text import Hit, Overlay, SearchDocument, SearchQuery, TextIndex, search_text
from convex_evals.backend.search.vector import VectorDocument, VectorHit, VectorIndex, VectorQuery

__all__ = [
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
]
