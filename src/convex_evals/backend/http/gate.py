"""The gate that every request passes first: its Host and Origin must be allowed, its key not in the address.

Convex mirrors every origin, because what guards a deployment in the cloud is its key alone. Ours is on someone's
machine, and every page in that person's browser can reach it: only pages of this machine may use it, and others that
its user has named. HTTP actions decide about origins themselves, as they do in the cloud.
"""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.bodies import envelope
from convex_evals.core.http import Access

METHODS: Final = "GET,POST,OPTIONS,PATCH,DELETE,PUT"
VARY: Final = "origin, access-control-request-method, access-control-request-headers"
MAX_AGE_SECONDS: Final = "86400"
LONGEST_QUOTE: Final = 100


class Gate:
    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            return await envelope(refusal)(scope, receive, send)
        origin = headers.get("origin")
        if scope["type"] != "http" or is_http_action(scope["path"]):
            return await self._app(scope, receive, send)
        if scope["method"] == "OPTIONS":
            return await _answer_preflight(headers, origin, send)
        if origin is None:
            return await self._app(scope, receive, send)

        async def send_with_cors(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_mirrored(origin))
            await send(message)

        return await self._app(scope, receive, send_with_cors)

    def _refusal(self, scope: Scope, headers: Headers) -> RequestError | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.has_host(hosts[0]):
            return _foreign_host(", ".join(hosts))
        if is_http_action(scope["path"]):
            return None
        foreign = next((origin for origin in headers.getlist("origin") if not self._access.has_origin(origin)), None)
        if foreign is not None:
            return _foreign_origin(foreign)
        if scope["query_string"] and "adminKey" in QueryParams(scope["query_string"]):
            return RequestError(
                400,
                "AdminKeyInAddress",
                "Expected the admin key in the Authorization header (`Convex <key>`), but found it in the address, "
                "which is written to logs; send it in the header.",
            )
        return None


def is_http_action(path: str) -> bool:
    return path == "/http" or path.startswith("/http/")


def _foreign_host(given: str) -> RequestError:
    found = f"it is {given[:LONGEST_QUOTE]!r}" if given else "there is none"
    return RequestError(
        403,
        "ForeignHost",
        f"Expected the Host of a request to be this deployment's, but {found}; use the address that was printed when "
        "the deployment started, or start it with --allow-host.",
    )


def _foreign_origin(given: str) -> RequestError:
    return RequestError(
        403,
        "ForeignOrigin",
        f"Expected a page of this machine, but the Origin of the request is {given[:LONGEST_QUOTE]!r}; start the "
        "deployment with --allow-origin if that page may use it.",
    )


def _mirrored(origin: str) -> dict[str, str]:
    return {
        "access-control-allow-origin": origin,
        "access-control-allow-credentials": "true",
        "vary": VARY,
    }


async def _answer_preflight(request: Headers, origin: str | None, send: Send) -> None:
    answer = MutableHeaders({"content-length": "0"})
    if origin is not None:
        answer.update(_mirrored(origin))
        answer["access-control-allow-methods"] = METHODS
        answer["access-control-max-age"] = MAX_AGE_SECONDS
        wanted = request.get("access-control-request-headers")
        if wanted is not None:
            answer["access-control-allow-headers"] = wanted
    await send({"type": "http.response.start", "status": 200, "headers": answer.raw})
    await send({"type": "http.response.body", "body": b""})
