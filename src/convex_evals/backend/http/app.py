"""The main port's ASGI app, put together from the routes of every area; and the site port in front of it."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from convex_evals.backend.errors import BackendError, DeveloperError, RequestError
from convex_evals.backend.http.access import THIS_MACHINE, Access
from convex_evals.backend.http.errors import (
    on_developer_error,
    on_disconnect,
    on_failure,
    on_http_exception,
    on_request_error,
)
from convex_evals.backend.http.gate import Gate


def main_app(routes: Sequence[BaseRoute], access: Access = THIS_MACHINE) -> ASGIApp:
    app = Starlette(
        routes=list(routes),
        exception_handlers={
            HTTPException: on_http_exception,
            RequestError: on_request_error,
            DeveloperError: on_developer_error,
            BackendError: on_failure,
            ClientDisconnect: on_disconnect,
            Exception: on_failure,
        },
    )
    app.router.redirect_slashes = False
    return Gate(app, access)


class SiteApp:
    """Everything on the site port is an HTTP action: the same request under `/http` of the main port."""

    def __init__(self, main: ASGIApp) -> None:
        self._main = main

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        scope = {**scope, "path": f"/http{scope['path']}", "raw_path": b"/http" + raw}
        await self._main(scope, receive, send)
