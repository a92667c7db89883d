"""Endpoints that need no identity: is it there, what is it called."""

from importlib.metadata import version as version_of

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from convex_evals.backend.http.bodies import read_bytes
from convex_evals.backend.http.limits import FUNCTION_BODY_BYTES


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
