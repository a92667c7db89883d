"""Bodies of requests: limited in size before and after they are unpacked, and as long as they say."""

import zlib
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from convex_evals.core.http import MEBIBYTE
from convex_evals.web.errors import RequestRefused, error_response

BODY_BYTES: Final = 32 * MEBIBYTE
FORM_BYTES: Final = MEBIBYTE
ENCODINGS: Final = ("identity", "gzip")


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
