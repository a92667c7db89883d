"""For monitoring: whether the server works, and its metrics in the format of Prometheus."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from convex_evals.web.events import Broadcast
from convex_evals.web.site import current_site

BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"

health = APIRouter(include_in_schema=False)


class Metrics:
    """Counts answers by route and status. Addresses are not kept: they are unlimited, and tell who reads what."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self.buckets: Counter[float] = Counter()
        self.seconds = 0.0

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        self.answers[method, route, status] += 1
        self.seconds += seconds
        for bound in BOUNDS:
            if seconds <= bound:
                self.buckets[bound] += 1

    def lines(self, listeners: int) -> Iterator[str]:
        yield "# HELP convex_evals_http_requests_total Answers by method, route and status."
        yield "# TYPE convex_evals_http_requests_total counter"
        for (method, route, status), number in sorted(self.answers.items()):
            yield f'convex_evals_http_requests_total{{method="{method}",route="{route}",status="{status}"}} {number}'
        yield "# HELP convex_evals_http_request_seconds Time until an answer was complete."
        yield "# TYPE convex_evals_http_request_seconds histogram"
        total = self.answers.total()
        for bound in BOUNDS:
            yield f'convex_evals_http_request_seconds_bucket{{le="{bound}"}} {self.buckets[bound]}'
        yield f'convex_evals_http_request_seconds_bucket{{le="+Inf"}} {total}'
        yield f"convex_evals_http_request_seconds_sum {self.seconds:.6f}"
        yield f"convex_evals_http_request_seconds_count {total}"
        yield "# HELP convex_evals_event_listeners Open streams of events."
        yield "# TYPE convex_evals_event_listeners gauge"
        yield f"convex_evals_event_listeners {listeners}"


class Measured:
    """Streams are counted when they end, without their duration, which is up to their listeners."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        status, started = 500, time.perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            route = _route(scope)
            seconds = 0.0 if route.endswith("/events") else time.perf_counter() - started
            self._metrics.note(_method(scope["method"]), route, status, seconds)


def _route(scope: Scope) -> str:
    """With the prefix of its router, which is not part of a route's own path."""
    path: str = getattr(scope.get("route"), "path", "")
    if not path or ":path}" in path:
        return path or "none"
    return "/".join(scope["path"].split("/")[: -path.count("/")]) + path


def _method(given: str) -> str:
    """Clients may invent methods; each would add a counter."""
    return given if given in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"


@health.get("/health")
def show_health(request: Request) -> Response:
    """Whether the scores can be read. Says nothing about them, because everyone may ask."""
    current_site(request).store.deployment.name()
    return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})


@health.get("/metrics")
def show_metrics(request: Request) -> Response:
    metrics: Metrics = request.app.state.metrics
    broadcast: Broadcast = request.app.state.broadcast
    text = "\n".join(metrics.lines(broadcast.listeners)) + "\n"
    return Response(text, headers={"cache-control": "no-store", "content-type": TEXT})
