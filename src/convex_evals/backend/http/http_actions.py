"""HTTP actions: everything under `/http` of the main port, and the whole site port."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.functions import ROUTABLE_METHODS, HttpActionRequest, HttpActionResponse, HttpActionRunner
from convex_evals.backend.http.bodies import HTTP_ACTION_BODY_BYTES, IncomingBody, body_too_large
from convex_evals.backend.http.clients import identify_for_http_action, scheme_of
from convex_evals.backend.identity import Authenticator

PREFIX: Final = "/http"
BODILESS_METHODS: Final = ("GET", "HEAD", "OPTIONS")
BODILESS_STATUSES: Final = (204, 304)
OWN_HEADERS: Final = ("connection", "keep-alive", "transfer-encoding")  # between us and the client, not the app's


class HttpActions:
    """An ASGI app that passes on requests and responses unchanged."""

    def __init__(self, actions: HttpActionRunner, authenticator: Authenticator) -> None:
        self._actions = actions
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [Route(PREFIX, self), Route(PREFIX + "/{path:path}", self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if request.method not in ROUTABLE_METHODS:
            return await Response(status_code=405)(scope, receive, send)
        _check_size(request)
        body = IncomingBody(receive, HTTP_ACTION_BODY_BYTES)
        has_body = request.method not in BODILESS_METHODS
        watch = asyncio.create_task(body.watch(after_body=has_body))
        try:
            action = await self._read(request, body, has_body)
            await _send_response(await self._actions.run(action), request.method, send)
        finally:
            watch.cancel()

    async def _read(self, request: Request, body: IncomingBody, has_body: bool) -> HttpActionRequest:
        headers = request.headers
        path = _path_of(request)
        return HttpActionRequest(
            method=request.method,
            url=_url_of(request, path),
            path=path,
            headers=tuple(headers.items()),
            body=body.chunks() if has_body else None,
            disconnected=body.disconnected,
            request_id=headers.get("convex-request-id") or secrets.token_hex(8),
            identity=await identify_for_http_action(self._authenticator, request),
            ip=request.client.host if request.client else None,
            user_agent=headers.get("user-agent"),
        )


class SiteApp:
    """The site port: each request is the same request under `/http` of the main port."""

    def __init__(self, main: ASGIApp) -> None:
        self._main = main

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        scope = {**scope, "path": f"{PREFIX}{scope['path']}", "raw_path": PREFIX.encode() + raw}
        await self._main(scope, receive, send)


def _check_size(request: Request) -> None:
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > HTTP_ACTION_BODY_BYTES:
        raise body_too_large(HTTP_ACTION_BODY_BYTES)


def _path_of(request: Request) -> str:
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return raw.decode("latin-1").partition("?")[0].removeprefix(PREFIX) or "/"


def _url_of(request: Request, path: str) -> str:
    query: bytes = request.scope["query_string"]
    host = request.headers.get("host") or request.url.netloc
    return f"{scheme_of(request.headers)}://{host}{path}" + (f"?{query.decode('latin-1')}" if query else "")


async def _send_response(response: HttpActionResponse, method: str, send: Send) -> None:
    headers = list(_raw_headers(response.headers))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    is_wanted = method != "HEAD" and response.status not in BODILESS_STATUSES
    try:
        left = await _send_body(response.body, _declared_length(headers), send if is_wanted else _send_nowhere)
    except SystemFailure:
        return  # the server closes the connection, which tells the client
    if is_wanted and left:
        return  # fewer bytes than the app declared: likewise
    await send({"type": "http.response.body", "body": b""})


async def _send_body(body: AsyncIterator[bytes], left: int | None, send: Send) -> int | None:
    """Sends no more than was declared, and returns how much of that is missing."""
    async for chunk in body:
        if left is not None:
            chunk = chunk[:left]
            left -= len(chunk)
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    return left


async def _send_nowhere(message: Message) -> None:
    """For bodies that must not be sent."""


def _raw_headers(pairs: Iterable[tuple[str, str]]) -> Iterable[tuple[bytes, bytes]]:
    for name, value in pairs:
        is_broken_length = name == "content-length" and not value.isdigit()
        if name not in OWN_HEADERS and not is_broken_length:
            yield name.encode("latin-1"), value.encode("latin-1", "replace")


def _declared_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    return next((int(value) for name, value in headers if name == b"content-length"), None)
