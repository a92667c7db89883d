"""The gate that every request passes first: for a host that is meant, and a change only from a page of this server.

Its body is limited in size before and after it is unpacked, and is as long as it says.
"""

import zlib
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from convex_evals.core.files import MEBIBYTE
from convex_evals.core.http import Access
from convex_evals.scores import TOKEN_MARK
from convex_evals.web.errors import RequestRefused, error_response

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
LONGEST_QUOTE: Final = 100
BODY_BYTES: Final = 32 * MEBIBYTE
FORM_BYTES: Final = MEBIBYTE
ENCODINGS: Final = ("identity", "gzip")


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


class BodyLimits:
    """Unpacks gzip while it arrives. What is too large is refused before it takes memory."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        limit = BODY_BYTES if scope["path"].startswith("/api/") else FORM_BYTES
        try:
            body = IncomingBody(receive, headers, limit)
        except RequestRefused as refused:
            return await error_response(refused)(scope, receive, send)
        return await self._app(_unpacked(scope, headers), body.receive, send)


class IncomingBody:
    def __init__(self, receive: Receive, headers: Headers, limit: int) -> None:
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ENCODINGS:
            raise RequestRefused(415, "UnknownEncoding", "Expected the Content-Encoding gzip, or none.")
        if int(headers.get("content-length", "0")) > limit:  # a number, or the parser had refused it
            raise too_large(limit)
        self._receive, self._limit = receive, limit
        self._unzip = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None
        self._size = 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] != "http.request":
            return message
        body = self._unpack(message.get("body", b""))
        self._size += len(body)
        if self._size > self._limit:
            raise too_large(self._limit)
        if self._unzip and not message.get("more_body", False) and not self._unzip.eof:
            raise RequestRefused(400, "InvalidBody", "Expected a whole gzip stream, but it ends too early.")
        return {**message, "body": body}

    def _unpack(self, body: bytes) -> bytes:
        if self._unzip is None:
            return body
        try:
            return self._unzip.decompress(body, self._limit - self._size + 1)
        except zlib.error as error:
            raise RequestRefused(400, "InvalidBody", "Expected a gzip stream, but the body is none.") from error


def too_large(limit: int) -> RequestRefused:
    return RequestRefused(413, "TooLarge", f"Expected at most {limit:,} bytes of body, but there are more.")


def _unpacked(scope: Scope, headers: Headers) -> Scope:
    if "content-encoding" not in headers:
        return scope
    kept = [pair for pair in scope["headers"] if pair[0] not in (b"content-encoding", b"content-length")]
    return {**scope, "headers": kept}
