"""`/api/sync` and `/api/<npm version>/sync`: the WebSocket of the sync protocol."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.clients import ClientVersion
from convex_evals.backend.http.responses import envelope
from convex_evals.backend.identity import Authenticator
from convex_evals.backend.sync import AcceptedSocket, SessionSettings, SyncServer


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
