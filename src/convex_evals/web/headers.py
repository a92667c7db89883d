"""Headers of every answer: what a browser may do with it, how long it may keep it, and what it already has.

An entity tag saves sending an answer again; files at addresses that never change are kept forever.
"""

import hashlib
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
REVALIDATE: Final = "private, no-cache"
PRIVATE_FOREVER: Final = "private, max-age=31536000, immutable"
FOREVER: Final = "public, max-age=31536000, immutable"


class SecurityHeaders:
    """Adds them to whatever answer does not have its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", REVALIDATE)
            await send(message)

        await self._app(scope, receive, send_with_headers)


NEEDED: Final = ("etag", "cache-control", "content-location", "expires", "vary", "set-cookie")


class EntityTags:
    """Gives an answer a tag of its content, and answers 304 to whoever has that."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return await self._app(scope, receive, send)
        answer = _Answer(Headers(scope=scope).get("if-none-match", ""), send)
        return await self._app(scope, receive, answer.send)


class _Answer:
    """Waits for the whole body, unless it is a stream."""

    def __init__(self, known: str, send: Send) -> None:
        self._known = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        self._send = send
        self._start: dict[str, Any] | None = None
        self._chunks: list[bytes] = []

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_tagged(message):
            self._start = dict(message)
        elif self._start is None or message["type"] != "http.response.body":
            await self._send(message)
        else:
            self._chunks.append(message.get("body", b""))
            if not message.get("more_body", False):
                await self._finish(self._start, b"".join(self._chunks))

    async def _finish(self, start: dict[str, Any], body: bytes) -> None:
        headers = MutableHeaders(raw=list(start["headers"]))
        tag = headers.setdefault("etag", f'W/"{hashlib.sha256(body).hexdigest()[:32]}"')
        start["headers"] = headers.raw
        if tag.removeprefix("W/") in self._known:
            start["status"], body = 304, b""
            start["headers"] = [pair for pair in headers.raw if pair[0].decode() in NEEDED]
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _is_tagged(message: Message) -> bool:
    headers = Headers(raw=message["headers"])
    return message["status"] == 200 and not headers.get("content-type", "").startswith("text/event-stream")
