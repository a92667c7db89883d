"""The ports of a deployment: how they are opened, what they say to anybody, how they close."""

import asyncio
import time

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from convex_evals.backend.errors import DeveloperError, RequestError, SystemFailure
from convex_evals.backend.http.app import health_routes, main_app
from convex_evals.backend.http.http_actions import SiteApp
from convex_evals.core.http import LoopbackServer


async def fail(request: Request) -> Response:
    match request.query_params["how"]:
        case "refused":
            raise RequestError(409, "Busy", "try later")
        case "developer":
            raise DeveloperError("your mistake")
        case "system":
            raise SystemFailure("our mistake")
        case _:
            raise ZeroDivisionError


async def slow(request: Request) -> Response:
    await asyncio.sleep(3600)
    return Response()


async def action(request: Request) -> Response:
    return PlainTextResponse(f"{request.method} {request.scope['path']} {request.scope['raw_path'].decode()}")


@pytest.fixture
async def servers():  # type: ignore[no-untyped-def]
    app = main_app(
        [
            *health_routes("happy-animal-123"),
            Route("/api/fail", fail),
            Route("/api/slow", slow),
            Route("/http/{path:path}", action, methods=["GET", "OPTIONS"]),
        ]
    )
    main, site = LoopbackServer(), LoopbackServer()
    await main.start(app)
    await site.start(SiteApp(app))
    yield main, site
    await main.stop()
    await site.stop()


@pytest.fixture
async def client(servers):  # type: ignore[no-untyped-def]
    async with httpx2.AsyncClient(base_url=servers[0].origin, timeout=60) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/", "This Convex deployment is running. See https://docs.convex.dev/."),
        ("/instance_name", "happy-animal-123"),
    ],
)
async def test_anybody_may_ask_what_is_here(client: httpx2.AsyncClient, path: str, text: str) -> None:
    response = await client.get(path)
    assert (response.status_code, response.text) == (200, text)
    assert response.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/version", "/instance_version"])
async def test_the_version_is_a_text(client: httpx2.AsyncClient, path: str) -> None:
    assert (await client.get(path)).text.startswith("convex-evals-")


async def test_echo_gives_the_body_back(client: httpx2.AsyncClient) -> None:
    assert (await client.post("/echo", content=b"\x00\x01")).content == b"\x00\x01"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404),
        ("GET", "/api/nope", 404),
        ("POST", "/version", 405),
        ("GET", "/echo", 405),
        ("GET", "/version/", 404),
    ],
)
async def test_unknown_routes_and_wrong_methods_have_no_body(
    client: httpx2.AsyncClient, method: str, path: str, status: int
) -> None:
    response = await client.request(method, path)
    assert (response.status_code, response.content) == (status, b"")


INTERNAL = {"code": "InternalServerError", "message": "Your request couldn't be completed. Try again later."}


@pytest.mark.parametrize(
    ("how", "status", "body"),
    [
        ("refused", 409, {"code": "Busy", "message": "try later"}),
        ("developer", 400, {"code": "BadRequest", "message": "your mistake"}),
        ("system", 500, INTERNAL),
    ],
)
async def test_failures_are_a_code_and_a_message(
    client: httpx2.AsyncClient, how: str, status: int, body: dict[str, str]
) -> None:
    response = await client.get("/api/fail", params={"how": how})
    assert (response.status_code, response.json()) == (status, body)


async def test_an_accident_proves_nothing(client: httpx2.AsyncClient) -> None:
    response = await client.get("/api/fail", params={"how": "accident"})
    assert (response.status_code, response.json()) == (500, INTERNAL)


async def test_the_site_port_is_the_http_folder_of_the_main_port(servers) -> None:  # type: ignore[no-untyped-def]
    async with httpx2.AsyncClient(base_url=servers[1].origin, timeout=60) as site:
        assert (await site.get("/a%2Fb?c=d")).text == "GET /http/a/b /http/a%2Fb"
        assert (await site.get("/")).text == "GET /http/ /http/"


async def test_a_port_that_is_taken_is_an_error() -> None:
    first = LoopbackServer()
    port = int(first.origin.rpartition(":")[2])
    with pytest.raises(OSError, match="in use"):
        LoopbackServer(port)
    await first.stop()


async def test_stopping_does_not_wait_for_idle_connections(servers, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("convex_evals.core.http.server.GRACE_SECONDS", 3600)
    async with httpx2.AsyncClient(base_url=servers[0].origin, timeout=60) as client:
        await client.get("/version")
        started = time.perf_counter()
        await servers[0].stop()
        assert time.perf_counter() - started < 20


async def test_stopping_ends_requests_that_take_too_long(servers, until) -> None:  # type: ignore[no-untyped-def]
    async with httpx2.AsyncClient(base_url=servers[0].origin, timeout=60) as client:
        waiting = asyncio.create_task(client.get("/api/slow"))
        await until(lambda: servers[0].requests == 1)
        started = time.perf_counter()
        await servers[0].stop()
        assert time.perf_counter() - started < 20
        with pytest.raises(httpx2.HTTPError):
            response = await waiting
            response.raise_for_status()
