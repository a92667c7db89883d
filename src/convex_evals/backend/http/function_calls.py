"""Function calls over HTTP. A function that fails is an answer like any other: status 200."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.deployed import FunctionPath, Module
from convex_evals.backend.errors import RequestError
from convex_evals.backend.functions import Call, CallOutcome, InlineQueries, parse_path
from convex_evals.backend.http.bodies import Fields, query_fields, read_json
from convex_evals.backend.http.clients import chosen_format, client_of, identify, identify_admin
from convex_evals.backend.identity import Authenticator, require_admin
from convex_evals.backend.push import canonical_module_path
from convex_evals.backend.values import Format, loads, render

if TYPE_CHECKING:
    from convex_evals.backend.database import Database
    from convex_evals.backend.functions import FunctionRunner

RUN_PREFIX = "/api/run/"

Run = Callable[[Call], Awaitable[CallOutcome]]


class FunctionCalls:
    def __init__(self, functions: "FunctionRunner", database: "Database", authenticator: Authenticator) -> None:
        self._functions = functions
        self._database = database
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [
            Route("/api/query", self._get_query, methods=["GET"]),
            Route("/api/query", self._query, methods=["POST"]),
            Route("/api/mutation", self._mutation, methods=["POST"]),
            Route("/api/action", self._action, methods=["POST"]),
            Route("/api/function", self._function, methods=["POST"]),
            Route(RUN_PREFIX + "{path:path}", self._run, methods=["POST"]),
            Route("/api/query_ts", self._query_ts, methods=["POST"]),
            Route("/api/query_at_ts", self._query_at_ts, methods=["POST"]),
            Route("/api/query_batch", self._query_batch, methods=["POST"]),
        ]

    async def _query(self, request: Request) -> Response:
        return await self._answer(request, await read_json(request), self._functions.query)

    async def _get_query(self, request: Request) -> Response:
        fields = query_fields(request)
        try:
            args = orjson.loads(fields.text("args"))
        except orjson.JSONDecodeError as error:
            raise RequestError(400, "BadQueryArgs", f"Failed to deserialize query string: args: {error}") from error
        call = await self._call(request, parse_path(fields.text("path")), args)
        form = chosen_format(fields.optional_text("format"), client_of(request))
        return _json(body_of(await self._functions.query(call), form))

    async def _mutation(self, request: Request) -> Response:
        return await self._answer(request, await read_json(request), self._functions.mutation)

    async def _action(self, request: Request) -> Response:
        return await self._answer(request, await read_json(request), self._functions.action)

    async def _function(self, request: Request) -> Response:
        fields = await read_json(request)
        path = parse_path(fields.text("path"), fields.optional_text("componentPath"))
        form = chosen_format(fields.optional_text("format"), client_of(request))
        call = await self._call(request, path, fields.anything("args"))
        require_admin(call.identity)
        return _json(body_of(await self._functions.run_any(call), form))

    async def _run(self, request: Request) -> Response:
        raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
        path = run_path(raw.decode().partition("?")[0].removeprefix(RUN_PREFIX))
        fields = await read_json(request)
        name = fields.optional_text("format")
        form: Format = "json" if name is None else chosen_format(name, client_of(request))
        call = await self._call(request, path, fields.anything("args"))
        return _json(body_of(await self._functions.run_any(call), form))

    async def _query_ts(self, request: Request) -> Response:
        ts = self._database.latest.to_bytes(8, "little")
        return _json(orjson.dumps({"ts": base64.b64encode(ts).decode()}).decode())

    async def _query_at_ts(self, request: Request) -> Response:
        fields = await read_json(request)
        at = _parse_ts(fields.text("ts"))
        if at > self._database.latest:
            raise RequestError(400, "BadJsonBody", f"ts: {at} is in the future")
        return await self._answer(request, fields, lambda call: self._functions.query(call, at=at))

    async def _query_batch(self, request: Request) -> Response:
        batch = (await read_json(request)).items("queries")
        at = self._database.latest
        bodies = [self._body(request, fields, lambda call: self._functions.query(call, at=at)) for fields in batch]
        return _json('{"results":[' + ",".join(await asyncio.gather(*bodies)) + "]}")

    async def _answer(self, request: Request, fields: Fields, run: Run) -> Response:
        return _json(await self._body(request, fields, run))

    async def _body(self, request: Request, fields: Fields, run: Run) -> str:
        form = chosen_format(fields.optional_text("format"), client_of(request))
        call = await self._call(request, parse_path(fields.text("path")), fields.anything("args"))
        return body_of(await run(call), form)

    async def _call(self, request: Request, path: FunctionPath, args: object) -> Call:
        headers = request.headers
        return Call(
            path,
            args,
            identity=await identify(self._authenticator, request),
            request_id=headers.get("convex-request-id", ""),
            ip=request.client.host if request.client else None,
            user_agent=headers.get("user-agent"),
        )


def run_path(text: str) -> FunctionPath:
    """`messages/list` is `messages:list`: the last segment is the function, the others are the module."""
    *module, function = [unquote(segment) for segment in text.split("/")]
    if not module or not function:
        raise RequestError(
            400, "MissingIdentifier", "Path or function name not provided in path, e.g. /api/run/messages/list"
        )
    return parse_path(f"{'/'.join(module)}:{function}")


def body_of(outcome: CallOutcome, form: Format) -> str:
    if outcome.failure is None:
        parts = ['"status":"success"', f'"value":{_rendered(outcome.value or "null", form)}']
    else:
        message = orjson.dumps(outcome.failure.text(outcome.request_id)).decode()
        parts = ['"status":"error"', f'"errorMessage":{message}']
        if outcome.failure.data is not None:
            parts.append(f'"errorData":{_rendered(outcome.failure.data, form)}')
    if outcome.log_lines:
        parts.append(f'"logLines":{orjson.dumps(outcome.log_texts).decode()}')
    return "{" + ",".join(parts) + "}"


def _rendered(value: str, form: Format) -> str:
    return value if form == "convex_encoded_json" else orjson.dumps(render(loads(value), form)).decode()


def _parse_ts(text: str) -> int:
    try:
        data = base64.b64decode(text, validate=True)
        if len(data) != 8:
            raise ValueError("a timestamp has eight bytes")
    except ValueError as error:
        raise RequestError(400, "BadJsonBody", f"ts: invalid timestamp {text}") from error
    return int.from_bytes(data, "little")


def _json(body: str) -> Response:
    return Response(body, media_type="application/json")


class InlineQueryRoutes:
    def __init__(self, queries: InlineQueries, authenticator: Authenticator) -> None:
        self._queries = queries
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [Route("/api/run_test_function", self._run, methods=["POST"])]

    async def _run(self, request: Request) -> Response:
        fields = await read_json(request)
        identity = await identify_admin(self._authenticator, request, fields.optional_text("adminKey"))
        form = chosen_format(fields.optional_text("format"), client_of(request))
        module = _inline_module(fields.nested("bundle"))
        call = Call(
            FunctionPath(module.path, "default"),
            fields.anything("args"),
            identity=identity,
            caller="Tester",
            request_id=request.headers.get("convex-request-id", ""),
        )
        outcome = await self._queries.run(call, module, fields.optional_text("componentId") or "")
        return Response(body_of(outcome, form), media_type="application/json")


def _inline_module(bundle: Fields) -> Module:
    path = canonical_module_path(bundle.text("path"))
    return Module(path, bundle.text("source"), bundle.optional_text("sourceMap"), "isolate")
