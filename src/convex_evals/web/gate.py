"""The gate that every request passes first: for a host that is meant, and a change only from a page of this server."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from convex_evals.core.http import Access
from convex_evals.scores import TOKEN_MARK
from convex_evals.web.errors import RequestRefused, error_response

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
LONGEST_QUOTE: Final = 100


class Gate:
    """Other sites can make a browser send a request with its cookies; a program that sends a token is not a browser."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        refused = self._foreign_host(headers) or _foreign_change(scope, headers) or _token_in_address(scope)
        if refused is not None:
            return await error_response(refused)(scope, receive, send)
        return await self._app(scope, receive, send)

    def _foreign_host(self, headers: Headers) -> RequestRefused | None:
        hosts = headers.getlist("host")
        if len(hosts) == 1 and self._access.has_host(hosts[0]):
            return None
        found = f"it is {hosts[0][:LONGEST_QUOTE]!r}" if len(hosts) == 1 else f"there are {len(hosts)}"
        return RequestRefused(
            403,
            "ForeignHost",
            f"Expected the Host of a request to be this server's, but {found}; use the address that `serve` printed, "
            "or start it with --allow-host.",
        )


def _foreign_change(scope: Scope, headers: Headers) -> RequestRefused | None:
    """A WebSocket counts as a change: what comes out of it, unlike an answer, a browser shows to foreign pages."""
    is_safe = scope["type"] == "http" and scope["method"] in SAFE_METHODS
    if is_safe or "authorization" in headers or _is_own_page(headers):
        return None
    return RequestRefused(
        403, "ForeignOrigin", "Expected a request of this server's own pages, or one with a token; open the page again."
    )


def _is_own_page(headers: Headers) -> bool:
    """Browsers say where a change comes from; without all three a request is not a browser's, and carries no rights."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    return site in ("same-origin", "none") if site is not None else "cookie" not in headers


def _token_in_address(scope: Scope) -> RequestRefused | None:
    if TOKEN_MARK.encode() not in scope["raw_path"] + b"?" + scope["query_string"]:
        return None
    return RequestRefused(
        400,
        "TokenInAddress",
        "Expected the token in the header Authorization, but found it in the address, which others may see; "
        "revoke it, and send a new one in the header.",
    )


def is_https(request: Request) -> bool:
    """A proxy in front of us may have ended TLS."""
    return request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
