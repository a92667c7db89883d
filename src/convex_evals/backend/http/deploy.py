"""The deploy API: what `convex dev`, `convex deploy` and `convex codegen` speak."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.http.bodies import read_encoded_json
from convex_evals.backend.http.clients import identify_admin
from convex_evals.backend.http.limits import FUNCTION_BODY_BYTES
from convex_evals.backend.http.responses import json_response
from convex_evals.backend.identity import Authenticator
from convex_evals.backend.push import Pusher, PushRequest

Json = dict[str, object]


class DeployRoutes:
    def __init__(self, pusher: Pusher, authenticator: Authenticator) -> None:
        self._pusher = pusher
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [
            Route("/api/get_config_hashes", self._get_config_hashes, methods=["POST"]),
            Route("/api/deploy2/start_push", self._start_push, methods=["POST"]),
            Route("/api/deploy2/evaluate_push", self._evaluate_push, methods=["POST"]),
            Route("/api/deploy2/wait_for_schema", self._wait_for_schema, methods=["POST"]),
            Route("/api/deploy2/finish_push", self._finish_push, methods=["POST"]),
            Route("/api/deploy2/report_push_completed", self._report_push_completed, methods=["POST"]),
        ]

    async def _get_config_hashes(self, request: Request) -> Response:
        await self._read(request)
        return json_response(self._pusher.config_hashes())

    async def _start_push(self, request: Request) -> Response:
        return json_response(await self._pusher.start(PushRequest.parse(await self._read(request))))

    async def _evaluate_push(self, request: Request) -> Response:
        return json_response(await self._pusher.evaluate(PushRequest.parse(await self._read(request))))

    async def _wait_for_schema(self, request: Request) -> Response:
        body = await self._read(request)
        return json_response(await self._pusher.schema_status(body.get("schemaChange")))

    async def _finish_push(self, request: Request) -> Response:
        body = await self._read(request)
        return json_response(await self._pusher.finish(body.get("startPush"), dry_run=body.get("dryRun") is True))

    async def _report_push_completed(self, request: Request) -> Response:
        """Accepts the timings that a hosted deployment would keep."""
        await self._read(request)
        return json_response(None)

    async def _read(self, request: Request) -> Json:
        """The body of an administrator's request. The key is in the header, in the body, or in both."""
        if "authorization" in request.headers:
            await identify_admin(self._authenticator, request)
            return await read_encoded_json(request)
        body = await read_encoded_json(request, FUNCTION_BODY_BYTES)  # the limit for everybody, until the key is known
        key = body.get("adminKey")
        await identify_admin(self._authenticator, request, key if isinstance(key, str) else None)
        return body
