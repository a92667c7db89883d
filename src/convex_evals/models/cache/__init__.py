"""Responses that were paid for, kept so that the same question is never paid for twice."""

from convex_evals.models.cache.entry import CachedResponse, CacheKey
from convex_evals.models.cache.responses import CachedModelSummary, ResponseCache
from convex_evals.models.cache.transport import CachingTransport

__all__ = ["CacheKey", "CachedModelSummary", "CachedResponse", "CachingTransport", "ResponseCache"]
