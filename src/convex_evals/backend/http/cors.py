"""CORS as the deployment does it: every origin is mirrored, with credentials. HTTP actions are left alone."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS = "GET,POST,OPTIONS,PATCH,DELETE,PUT"
VARY = "origin, access-control-request-method, access-control-request-headers"
MAX_AGE_SECONDS = "86400"


class MirroringCors:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_http_action(scope["path"]):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        if scope["method"] == "OPTIONS":
            return await _answer_preflight(headers, send)
        origin = headers.get("origin")
        if origin is None:
            return await self._app(scope, receive, send)

        async def send_with_cors(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_mirrored(origin))
            await send(message)

        return await self._app(scope, receive, send_with_cors)


def _is_http_action(path: str) -> bool:
    return path == "/http" or path.startswith("/http/")


def _mirrored(origin: str) -> dict[str, str]:
    return {
        "access-control-allow-origin": origin,
        "access-control-allow-credentials": "true",
        "vary": VARY,
    }


async def _answer_preflight(request: Headers, send: Send) -> None:
    answer = MutableHeaders({"content-length": "0"})
    origin = request.get("origin")
    if origin is not None:
        answer.update(_mirrored(origin))
        answer["access-control-allow-methods"] = METHODS
        answer["access-control-max-age"] = MAX_AGE_SECONDS
        wanted = request.get("access-control-request-headers")
        if wanted is not None:
            answer["access-control-allow-headers"] = wanted
    await send({"type": "http.response.start", "status": 200, "headers": answer.raw})
    await send({"type": "http.response.body", "body": b""})
