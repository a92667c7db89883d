"""Function calls over HTTP as Convex has them: a function that fails is an answer like any other, with status 200."""

import secrets

import msgspec
from fastapi import APIRouter, Request, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.web.errors import RequestRefused
from convex_evals.web.functions.calls import Call, Caller, FunctionFailed
from convex_evals.web.functions.function import Kind
from convex_evals.web.identity import Visitor, visitor_of

functions = APIRouter(prefix="/api", include_in_schema=False)


@functions.post("/query")
async def query(request: Request) -> Response:
    return await _answer(request, "Query")


@functions.post("/mutation")
async def mutation(request: Request) -> Response:
    return await _answer(request, "Mutation")


@functions.post("/action")
async def action(request: Request) -> Response:
    return await _answer(request, "Action")


@functions.post("/function")
async def function(request: Request) -> Response:
    """Any kind: what `npx convex run` calls."""
    return await _answer(request, None)


@functions.websocket("/sync")
@functions.websocket("/{version}/sync")
async def sync(websocket: WebSocket) -> None:
    """Subscriptions: what `npx convex run --watch` opens. Nobody is known by their cookies here."""
    from convex_evals.web.functions.subscriptions import serve_socket  # loads much that few servers need

    await serve_socket(websocket, Caller.of(websocket, Visitor(websocket.app.state.site)))


async def _answer(request: Request, kind: Kind | None) -> Response:
    try:
        call = msgspec.json.decode(await request.body(), type=Call)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise RequestRefused(400, "BadJsonBody", f"Expected a call of a function as JSON: {error}.") from error
    try:
        value = await run_in_threadpool(Caller.of(request, visitor_of(request)).call, call, kind)
    except (FunctionFailed, ConvexEvalsError) as error:
        text = f"[Request ID: {secrets.token_hex(8)}] Server Error\n{error}"
        return _json({"status": "error", "errorMessage": text})
    return _json({"status": "success", "value": value})


def _json(body: dict[str, object]) -> Response:
    return Response(msgspec.json.encode(body), media_type="application/json")
