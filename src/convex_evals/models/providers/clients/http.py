"""The HTTP client that a model is asked with."""

from typing import Final
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.models import create_async_httpx2_client

from convex_evals.models.providers.patience import Patience

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def http_client(address: str, patience: Patience) -> httpx2.AsyncClient:
    """Proxies of the environment are honoured, but not on the way to this machine itself."""
    timeout = httpx2.Timeout(patience.first_token, connect=patience.connect)
    parts = urlsplit(address)
    secure = parts.scheme == "https"  # making ready for that takes a while
    direct = httpx2.AsyncHTTPTransport(verify=secure) if parts.hostname in _LOOPBACK else None
    return create_async_httpx2_client(timeout=timeout, transport=direct)
