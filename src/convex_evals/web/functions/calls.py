"""Calls of named functions: who makes one, what it names, what it answers, and how it comes over HTTP, as in Convex.

There, a function that fails is an answer like any other, with status 200.
"""

import secrets
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import msgspec
from fastapi import APIRouter, Request, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import Response

from convex_evals.backend import DeveloperError, decode, encode
from convex_evals.core.errors import ConvexEvalsError
from convex_evals.core.plain import from_plain
from convex_evals.web.errors import RequestRefused
from convex_evals.web.functions.debug import DEBUG
from convex_evals.web.functions.function import API_SPEC, Context, Function, Kind, api_spec
from convex_evals.web.functions.records import RECORDING
from convex_evals.web.functions.scores import SCORES
from convex_evals.web.identity import Authenticator, Visitor, address_of, visitor_of
from convex_evals.web.results import Results, ResultsCache

FUNCTIONS: Final = (*DEBUG, *RECORDING, *SCORES)
TABLE: Final = {(each.component, each.name): each for each in FUNCTIONS}
functions = APIRouter(prefix="/api", include_in_schema=False)


class FunctionFailed(Exception):
    """One text for whoever called it."""


class Call(msgspec.Struct, frozen=True):
    path: str
    args: Any = None
    componentPath: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    visitor: Visitor
    address: str
    authenticator: Authenticator
    results: ResultsCache

    @classmethod
    def of(cls, connection: HTTPConnection, visitor: Visitor) -> Self:
        state = connection.app.state
        return cls(visitor, address_of(connection), state.authenticator, state.results)

    def with_token(self, token: str) -> Self:
        """Raises RequestRefused."""
        grant = self.authenticator.check_token(token, self.address)
        return replace(self, visitor=replace(self.visitor, grant=grant))

    def call(self, call: Call, kind: Kind | None) -> Any:
        """The answer as Convex JSON. Raises FunctionFailed, RequestRefused and ConvexEvalsError.

        Who has shown no token may send it as the argument `token`, as runners of the original do.
        """
        found, given = _find(call, kind), _arguments(call)
        token = given.pop("token", None)
        known = self.with_token(token) if self.visitor.grant is None and isinstance(token, str) else self
        known.visitor.require(found.right)
        try:
            arguments = from_plain(found.arguments, given)
        except ValueError as error:
            raise FunctionFailed(f"ArgumentValidationError: {error}") from error
        return encode(_value(found.answer(Context(self.visitor.site, Results(self.results), known.visitor), arguments)))


def _find(call: Call, kind: Kind | None) -> Function:
    name, component = call.path.replace(".js:", ":"), call.componentPath or None
    found = api_spec(FUNCTIONS, component) if name == API_SPEC else TABLE.get((component, name))
    if found is None:
        where = f" in '{component}'" if component else ""
        if kind is None:
            advice = "Did you forget to run `npx convex dev`?"
            raise FunctionFailed(f"Could not find function for '{name}'{where}. {advice}")
        raise FunctionFailed(f"Could not find public function for '{name}'{where}.")
    if kind is not None and found.kind != kind:
        shown = name.replace(":", ".js:")
        raise FunctionFailed(f"Trying to execute {shown} as {kind}, but it is defined as {found.kind}.")
    return found


def _arguments(call: Call) -> dict[str, Any]:
    """npm sends a list of one object, the others the object."""
    sent = call.args[0] if isinstance(call.args, list) and len(call.args) == 1 else call.args
    try:
        value = decode({} if sent is None else sent)
    except DeveloperError as error:
        raise FunctionFailed(error.message) from error
    if not isinstance(value, dict):
        raise FunctionFailed("ArgumentValidationError: Expected an object of arguments.")
    return dict(value)


def _value(answer: object) -> Any:
    """Every number of ours is a Convex number."""
    if isinstance(answer, dict):
        return {name: _value(each) for name, each in answer.items()}
    if isinstance(answer, list | tuple):
        return [_value(each) for each in answer]
    return float(answer) if isinstance(answer, int) and not isinstance(answer, bool) else answer


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
