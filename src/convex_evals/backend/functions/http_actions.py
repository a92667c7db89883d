"""HTTP actions: from a request to the route that matches it, and to the response of its handler."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

import orjson

from convex_evals.backend.deployed import (
    AnalyzedFunction,
    Application,
    ComponentDefinition,
    ComponentInstance,
    Environment,
    FunctionPath,
    HttpRoute,
)
from convex_evals.backend.environment import read_state
from convex_evals.backend.errors import BackendError, DeveloperError, SystemFailure
from convex_evals.backend.functions.actions import ActionSyscalls, Runner
from convex_evals.backend.functions.calls import Call, CallFailure, failure_of, uncaught
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.records import identity_type, new_execution_id
from convex_evals.backend.functions.targets import Target
from convex_evals.backend.identity import ANONYMOUS, Admin, Identity, may_call_internal
from convex_evals.backend.limits import ACTION_SECONDS
from convex_evals.backend.logs import Completion, FunctionLog, Progress
from convex_evals.backend.runtime import Execution, HttpAnswer, HttpRequestHead, LogLine

ROUTER_MODULE = "http.js"
ROUTABLE_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD")

_CHILD_REFERENCE = "_reference/childComponent/"

NOT_ENABLED = "This Convex deployment does not have HTTP actions enabled."
NO_ROUTE = "No matching routes found"

HeaderPairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Routed:
    """`path` is what the router of the component is asked for; `route` is None when it will not find anything."""

    instance: ComponentInstance
    path: str
    route: HttpRoute | None


@dataclass(frozen=True, slots=True)
class _Mount:
    path: str
    component: str


def find_route(application: Application | None, method: str, path: str) -> Routed | None:
    """None when no component serves HTTP at `path`, which is that of the URL, still percent-encoded."""
    component, rest = "", path
    while application is not None:
        instance, definition = application.instance(component), application.definition_of(component)
        if instance is None or definition is None:
            break
        found = _find_in(instance, definition, "GET" if method == "HEAD" else method, rest)
        if not isinstance(found, _Mount):
            return found
        component, rest = found.component, "/" + rest.removeprefix(found.path)
    return None


def _find_in(
    instance: ComponentInstance, definition: ComponentDefinition, method: str, path: str
) -> Routed | _Mount | None:
    module = definition.analysis.get(ROUTER_MODULE)
    routes = None if module is None else module.http_routes
    prefix = _own_prefix(instance)
    own = "/" + path.removeprefix(prefix) if path.startswith(prefix) else None
    exact = next((route for route in routes or () if (route.method, route.path) == (method, own)), None)
    if exact is not None and own is not None:
        return Routed(instance, own, exact)
    longest = _longest_prefix(routes or (), method, own)
    mount = _longest_mount(instance, definition, path)
    if mount is not None and (longest is None or len(mount.path) >= len(prefix) + len(longest.path) - len("/*")):
        return mount
    return None if routes is None else Routed(instance, own or path, longest)


def _own_prefix(instance: ComponentInstance) -> str:
    """What stands before the routes of a component. Children are reached through their mount instead."""
    return instance.http_prefix or "/" if instance.path == "" else "/"


def _longest_prefix(routes: Sequence[HttpRoute], method: str, path: str | None) -> HttpRoute | None:
    matching = [
        route
        for route in routes
        if route.method == method and route.path.endswith("*") and (path or "").startswith(route.path[:-1])
    ]
    return max(matching, key=lambda route: len(route.path), default=None)


def _longest_mount(instance: ComponentInstance, definition: ComponentDefinition, path: str) -> _Mount | None:
    mounts = definition.metadata.get("httpMounts")
    found: list[_Mount] = []
    for prefix, reference in (mounts if isinstance(mounts, dict) else {}).items():
        child = instance.children.get(str(reference).removeprefix(_CHILD_REFERENCE))
        if child is not None and path.startswith(prefix):
            found.append(_Mount(prefix, child))
    return max(found, key=lambda mount: len(mount.path), default=None)


@dataclass(frozen=True, slots=True)
class HttpRun:
    """One run, from now until `record` is called. `identifier` is method and route: `GET /prefix/*`."""

    log: FunctionLog
    call: Call
    identifier: str
    environment: Environment = "isolate"
    execution_id: str = field(default_factory=new_execution_id)
    started: float = field(default_factory=time.perf_counter)

    def report(self, lines: Sequence[LogLine]) -> None:
        """Lines that were written just now."""
        call, component = self.call, self.call.path.component or None
        self.log.append(Progress("HttpAction", self.identifier, component, call.request_id, self.execution_id, lines))

    def record(self, status: int | None, error: str | None = None, user_ms: float = 0.0) -> None:
        """`status` is None when the client was never answered."""
        call, component = self.call, self.call.path.component or None
        self.log.append(
            Completion(
                udf_type="HttpAction",
                identifier=self.identifier,
                component_path=component,
                request_id=call.request_id,
                execution_id=self.execution_id,
                caller=call.caller,
                identity_type=identity_type(call.identity),
                environment=self.environment,
                execution_seconds=time.perf_counter() - self.started,
                user_seconds=user_ms / 1000,
                error=error,
                http_status=None if status is None else str(status),
            )
        )


@dataclass(frozen=True, slots=True)
class HttpActionRequest:
    """`path` is that of the URL, still percent-encoded. `body` may raise RequestError, which ends the action."""

    method: str
    url: str
    path: str
    headers: HeaderPairs
    body: AsyncIterator[bytes] | None
    disconnected: asyncio.Event  # set when the client has gone
    request_id: str
    identity: Identity = ANONYMOUS
    ip: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True, slots=True)
class HttpActionResponse:
    """`body` must be read to its end even if the client has gone, because only then the run is recorded."""

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
        state.check_running()
        execution = Execution(
            kind="httpAction",
            application_version=target.application.version,
            definition_path=target.instance.definition_path,
            path=target.path,
            environment=target.environment,
            args="[]",
            now_ms=self._host.clock.now_ms(),
            ahead_ms=self._host.clock.ahead_ms,
            seed=os.urandom(32),
            env=state.variables_of(target.instance),
            request_id=request.request_id,
            user_seconds=ACTION_SECONDS,
            total_seconds=ACTION_SECONDS,
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
        FunctionPath(ROUTER_MODULE, "default", component),
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
