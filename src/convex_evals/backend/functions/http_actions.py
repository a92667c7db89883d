"""Running HTTP actions: from a request to the response of the route that matches it."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import orjson

from convex_evals.backend.deployed import AnalyzedFunction, Application, FunctionPath
from convex_evals.backend.errors import BackendError, DeveloperError, SystemFailure
from convex_evals.backend.functions.action_syscalls import ActionSyscalls, Runner
from convex_evals.backend.functions.actions import ISOLATE_SECONDS
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.http_records import HttpRun
from convex_evals.backend.functions.http_routing import MODULE, Routed, find_route
from convex_evals.backend.functions.outcomes import failure_of, uncaught
from convex_evals.backend.functions.state import read_state
from convex_evals.backend.functions.targets import PAUSED, Target
from convex_evals.backend.functions.types import Call, CallFailure
from convex_evals.backend.functions.variables import visible_variables
from convex_evals.backend.identity import ANONYMOUS, Admin, Identity, may_call_internal
from convex_evals.backend.runtime import HttpAnswer
from convex_evals.backend.runtime.types import Execution, HttpRequestHead

NOT_ENABLED = "This Convex deployment does not have HTTP actions enabled."
NO_ROUTE = "No matching routes found"

HeaderPairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HttpActionRequest:
    """`path` is that of the URL, still percent-encoded. `body` may raise RequestError, which ends the action."""

    method: str
    url: str
    path: str
    headers: HeaderPairs
    body: AsyncIterator[bytes] | None
    disconnected: asyncio.Event  # set when nobody waits for the response any more
    request_id: str
    identity: Identity = ANONYMOUS
    ip: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True, slots=True)
class HttpActionResponse:
    """`body` must be read to its end, also when nobody wants it: then the run is recorded."""

    status: int
    headers: HeaderPairs
    body: AsyncIterator[bytes]


class HttpActionRunner:
    """`runner` is what HTTP actions call in turn."""

    def __init__(self, host: Host, runner: Runner) -> None:
        self._host = host
        self._runner = runner

    async def run(self, request: HttpActionRequest) -> HttpActionResponse:
        """Returns when the head of the response is known. Raises RequestError and SystemFailure."""
        self._host.check_open()
        application = self._host.application
        routed = find_route(application, request.method, request.path)
        if application is None or routed is None:
            return _text(404, NOT_ENABLED)
        call = _call_of(request, routed)
        if routed.route is None:
            HttpRun(self._host.log, call, f"{request.method} {request.path}").record(404)
            return _text(404, NO_ROUTE)
        target = _target_of(application, routed, call.path)
        run = HttpRun(self._host.log, call, f"{request.method} {routed.route.path}", target.environment)
        try:
            answer = await self._start(request, routed, run, target)
        except DeveloperError as error:
            failure = failure_of(error)
            run.record(500, failure.message)
            return self._failed(run, failure)
        if answer.head is None:
            return await self._without_head(run, answer)
        return HttpActionResponse(answer.head.status, answer.head.headers, _body(run, answer, answer.head.status))

    async def _start(self, request: HttpActionRequest, routed: Routed, run: HttpRun, target: Target) -> HttpAnswer:
        state = read_state(self._host.database.begin(), self._host.urls)
        if state.paused:
            raise DeveloperError(PAUSED)
        execution = Execution(
            kind="httpAction",
            application_version=target.application.version,
            definition_path=target.instance.definition_path,
            path=target.path,
            environment=target.environment,
            args="[]",
            now_ms=time.time() * 1000,
            seed=os.urandom(32),
            env=visible_variables(target.instance, state),
            request_id=request.request_id,
            user_seconds=ISOLATE_SECONDS,
            total_seconds=ISOLATE_SECONDS,
        )
        bridge = ActionSyscalls(self._host, self._runner, run.call, target, run.execution_id, run.report)
        head = HttpRequestHead(request.method, request.url, routed.path, request.headers)
        return await self._host.runtime.run_http(execution, bridge, head, request.body, request.disconnected)

    async def _without_head(self, run: HttpRun, answer: HttpAnswer) -> HttpActionResponse:
        try:
            outcome = await answer.outcome()
            if outcome.failure is None:
                raise SystemFailure(f"{run.identifier} ended without a response")
        except BackendError as error:
            run.record(None, str(error))
            raise
        failure = uncaught(outcome.failure)
        run.record(500, failure.message, outcome.user_ms)
        return self._failed(run, failure)

    def _failed(self, run: HttpRun, failure: CallFailure) -> HttpActionResponse:
        redacted = self._host.redact and not may_call_internal(run.call.identity)
        return failure_response(replace(failure, redacted=redacted), run.call.request_id)


def failure_response(failure: CallFailure, request_id: str) -> HttpActionResponse:
    """What clients get instead of a response that an error prevented."""
    code = f"[Request ID: {request_id}] Server Error"
    body: dict[str, object] = {"code": code}
    if not failure.redacted:
        message = failure.message.split("\n    at ", 1)[0].rstrip("\n")
        body = {"code": f"{code}: {message}", "trace": failure.message}
    if failure.data is not None:
        body["data"] = orjson.Fragment(failure.data)
    return HttpActionResponse(500, (("content-type", "application/json"),), _one(orjson.dumps(body)))


def _text(status: int, text: str) -> HttpActionResponse:
    return HttpActionResponse(status, (("content-type", "text/plain; charset=utf-8"),), _one(text.encode()))


async def _one(chunk: bytes) -> AsyncIterator[bytes]:
    yield chunk


async def _body(run: HttpRun, answer: HttpAnswer, status: int) -> AsyncIterator[bytes]:
    """After the head has been sent, an error of the app only ends the body; one of ours is raised."""
    async for chunk in answer.body:
        yield chunk
    try:
        outcome = await answer.outcome()
    except BackendError as error:
        run.record(status, str(error))
        if isinstance(error, SystemFailure):
            raise
        return
    run.record(status, outcome.failure.message if outcome.failure else None, outcome.user_ms)


def _call_of(request: HttpActionRequest, routed: Routed) -> Call:
    """The identity of a user stays in the app."""
    component = routed.instance.path
    in_app = component == "" or isinstance(request.identity, Admin)
    return Call(
        FunctionPath(MODULE, "default", component),
        [],
        identity=request.identity if in_app else ANONYMOUS,
        caller="HttpEndpoint",
        request_id=request.request_id,
        ip=request.ip,
        user_agent=request.user_agent,
    )


def _target_of(application: Application, routed: Routed, path: FunctionPath) -> Target:
    module = application.module(path)
    router = AnalyzedFunction("default", "HttpAction", None, '{"type":"any"}', "null")
    return Target(path, router, routed.instance, module.environment if module else "isolate", application)
