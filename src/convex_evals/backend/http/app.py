"""The main port's ASGI app: the routes of every area behind the gate, the WebSocket, and routes without identity."""

import logging
from collections.abc import Sequence
from importlib.metadata import version as version_of
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from convex_evals.backend.errors import BackendError, DeveloperError, RequestError
from convex_evals.backend.http.bodies import FUNCTION_BODY_BYTES, envelope, read_bytes
from convex_evals.backend.http.clients import ClientVersion
from convex_evals.backend.http.gate import Gate
from convex_evals.backend.identity import Authenticator
from convex_evals.backend.sync import AcceptedSocket, SessionSettings, SyncServer
from convex_evals.core.http import THIS_MACHINE, Access

# Connections of functions to their own deployment; further ones are closed, so that graders always find a descriptor.
PUBLIC_CONNECTIONS: Final = 256

INTERNAL = RequestError(500, "InternalServerError", "Your request couldn't be completed. Try again later.")

logger = logging.getLogger(__name__)


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


async def on_request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return envelope(error)


async def on_developer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DeveloperError)
    return envelope(RequestError(400, "BadRequest", error.message))


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Unknown routes and wrong methods: the status says it all."""
    assert isinstance(error, HTTPException)
    return Response(status_code=error.status_code, headers=error.headers)


async def on_disconnect(request: Request, error: Exception) -> Response:
    """The client is gone: nobody reads the answer, and it is not our failure."""
    return Response(status_code=408)


async def on_failure(request: Request, error: Exception) -> Response:
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return envelope(INTERNAL)


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


def sync_routes(server: SyncServer, authenticator: Authenticator) -> list[BaseRoute]:
    async def serve(websocket: WebSocket) -> None:
        await websocket.accept()
        settings = SessionSettings(joins_chunks=client_of(websocket).joins_chunks)
        await server.serve(AcceptedSocket(websocket), settings, authenticator)

    paths = ("/api/sync", "/api/{version}/sync")
    return [
        *(WebSocketRoute(path, serve) for path in paths),
        *(Route(path, refuse_plain_request, methods=["GET"]) for path in paths),
    ]


async def refuse_plain_request(request: Request) -> Response:
    return envelope(RequestError(400, "InvalidConnectionHeader", "Connection header did not include upgrade"))


def client_of(websocket: WebSocket) -> ClientVersion:
    """npm clients are known by the path they use, others by a header; anybody is welcome."""
    version = websocket.path_params.get("version")
    if isinstance(version, str):
        return ClientVersion.of_path(version)
    return ClientVersion.of_header(websocket.headers.get("convex-client"))
