"""The main port's ASGI app: the routes of every area behind the gate, and the routes that need no identity."""

from collections.abc import Sequence
from importlib.metadata import version as version_of

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from convex_evals.backend.errors import BackendError, DeveloperError, RequestError
from convex_evals.backend.http.bodies import read_bytes
from convex_evals.backend.http.gate import Gate
from convex_evals.backend.http.limits import FUNCTION_BODY_BYTES
from convex_evals.backend.http.responses import (
    on_developer_error,
    on_disconnect,
    on_failure,
    on_http_exception,
    on_request_error,
)
from convex_evals.core.http import THIS_MACHINE, Access


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


def health_routes(instance_name: str) -> list[Route]:
    async def greeting(request: Request) -> Response:
        return PlainTextResponse("This Convex deployment is running. See https://docs.convex.dev/.")

    async def version(request: Request) -> Response:
        return PlainTextResponse(f"convex-evals-{version_of('convex-evals')}")

    async def name(request: Request) -> Response:
        return PlainTextResponse(instance_name)

    async def echo(request: Request) -> Response:
        return Response(await read_bytes(request, FUNCTION_BODY_BYTES), media_type=request.headers.get("content-type"))

    return [
        Route("/", greeting),
        Route("/version", version),
        Route("/instance_name", name),
        Route("/instance_version", version),
        Route("/echo", echo, methods=["POST"]),
    ]
