"""The libraries' models for entries of the registry. Importing this loads what speaks to providers."""

from convex_evals.models.providers.clients.access import Access
from convex_evals.models.providers.clients.http import http_client

__all__ = ["Access", "http_client"]
