"""What every request passes first, asked with real HTTP and real WebSockets."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
import websockets
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.app import health_routes, main_app
from convex_evals.backend.http.http_actions import SiteApp
from convex_evals.core.http import THIS_MACHINE, Access, InvalidAddress, LoopbackServer

MORE = Access.of(
    ("https://convex.example/", "https://Site.example:8443", ""), ("tunnel.example:3210",), ("https://app.example",)
)

FOREIGN_ORIGINS = ["https://evil.example", "null", "file://", "http://localhost.evil.example", "http://192.168.0.1"]
ACCESS = Access.of((), hosts=("convex.example",), origins=("https://app.example",))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:3210",
        "127.1.2.3:80",
        "localhost:3210",
        "LocalHost",
        "app.dev.localhost:1",
        "[::1]:3210",
        "0.0.0.0:3210",
    ],
)
def test_names_of_this_machine_are_its_own(host: str) -> None:
    assert THIS_MACHINE.has_host(host)
    assert MORE.has_host(host)
    assert THIS_MACHINE.has_origin(f"http://{host}")
    assert THIS_MACHINE.has_origin(f"https://{host}")


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:3210",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "notlocalhost",
        "evil-localhost",
        "localhost:3210@evil.example",
        "evil.example/localhost",
        "localhost:3210:80",
        "192.168.0.1:3210",
        "128.0.0.1",
        "[::2]",
        "127.0.0.1\n",
        "localhost.",
    ],
)
def test_any_other_name_is_refused(host: str) -> None:
    assert not THIS_MACHINE.has_host(host)
    assert not MORE.has_host(host)
    assert not MORE.has_origin(f"http://{host}")


@pytest.mark.parametrize(
    "origin", ["null", "", "file://", "localhost:5173", "chrome-extension://localhost", "ws://localhost"]
)
def test_an_origin_that_is_not_of_this_machine_is_cross_origin(origin: str) -> None:
    assert not MORE.has_origin(origin)


@pytest.mark.parametrize("host", ["convex.example", "CONVEX.example:1", "site.example", "tunnel.example:99"])
def test_own_addresses_and_allowed_names_are_hosts(host: str) -> None:
    assert MORE.has_host(host)
    assert not THIS_MACHINE.has_host(host)


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://convex.example", True),
        ("https://site.example:8443", True),
        ("https://app.example", True),
        ("http://app.example", False),
        ("https://app.example:444", False),
        ("https://tunnel.example", False),
        ("https://app.example.evil.example", False),
    ],
)
def test_an_allowed_origin_is_that_scheme_that_name_and_that_port(origin: str, allowed: bool) -> None:
    assert MORE.has_origin(origin) is allowed


@pytest.mark.parametrize("host", ["", "https://app.example", "a b", "a/b", "user@app.example"])
def test_an_invalid_host_is_refused_in_one_sentence(host: str) -> None:
    with pytest.raises(InvalidAddress, match="Expected the name of a host such as "):
        Access.of((), hosts=(host,))


@pytest.mark.parametrize(
    "origin", ["app.example", "*", "https://", "https://app.example/path", "https://a.example?x", ""]
)
def test_an_invalid_origin_is_refused_in_one_sentence(origin: str) -> None:
    with pytest.raises(InvalidAddress, match="Expected an origin such as "):
        Access.of((), origins=(origin,))


async def refuse(request: Request) -> Response:
    raise RequestError(409, "Busy", "try later")


async def action(request: Request) -> Response:
    return PlainTextResponse(f"{request.method} {request.scope['path']}", headers={"access-control-allow-origin": "*"})


async def sync(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text("welcome")
    await websocket.close()


@pytest.fixture
async def servers() -> AsyncIterator[tuple[LoopbackServer, LoopbackServer]]:
    app = main_app(
        [
            *health_routes("happy-animal-123"),
            Route("/api/fail", refuse),
            Route("/http/{path:path}", action, methods=["GET", "OPTIONS"]),
            WebSocketRoute("/api/sync", sync),
        ],
        ACCESS,
    )
    async with LoopbackServer() as main, LoopbackServer() as site:
        await main.start(app)
        await site.start(SiteApp(app))
        yield main, site


@pytest.fixture
async def client(servers: tuple[LoopbackServer, LoopbackServer]) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=servers[0].origin, timeout=60) as client:
        yield client


async def ask(server: LoopbackServer, *headers: str, path: str = "/version") -> bytes:
    """The answer to a request with exactly these headers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.origin.rpartition(":")[2]))
    writer.write("\r\n".join([f"GET {path} HTTP/1.1", *headers, "Connection: close", "", ""]).encode())
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    return answer


async def test_requests_for_another_host_are_refused_on_both_ports(
    servers: tuple[LoopbackServer, LoopbackServer],
) -> None:
    for server in servers:
        answer = await ask(server, "Host: evil.example:3210")
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert answer.endswith(
            b'{"code":"ForeignHost","message":"Expected the Host of a request to be this deployment\'s, but it is '
            b"'evil.example:3210'; use the address that was printed when the deployment started, or start it with "
            b'--allow-host."}'
        )


@pytest.mark.parametrize(
    "headers", [(), ("Host: localhost", "Host: evil.example"), ("Host:",), ("Host: " + "a" * 9000,)]
)
async def test_a_request_must_name_one_host(
    servers: tuple[LoopbackServer, LoopbackServer], headers: tuple[str, ...]
) -> None:
    answer = await ask(servers[0], *headers)
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert len(answer) < 1000


@pytest.mark.parametrize("host", ["localhost:1", "[::1]", "0.0.0.0:3210", "my.localhost", "convex.example"])
async def test_names_of_this_machine_and_allowed_ones_are_welcome(
    servers: tuple[LoopbackServer, LoopbackServer], host: str
) -> None:
    assert (await ask(servers[0], f"Host: {host}")).startswith(b"HTTP/1.1 200 ")
    assert (await ask(servers[1], f"Host: {host}", path="/x")).endswith(b"GET /http/x")


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_a_cross_origin_page_gets_neither_an_answer_nor_permission(
    client: httpx2.AsyncClient, origin: str, method: str
) -> None:
    response = await client.request(method, "/echo", headers={"Origin": origin}, content=b"hello"[: method == "POST"])
    assert (response.status_code, response.json()["code"]) == (403, "ForeignOrigin")
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
async def test_the_socket_of_a_cross_origin_page_is_refused(
    servers: tuple[LoopbackServer, LoopbackServer], origin: str
) -> None:
    address = servers[0].origin.replace("http", "ws") + "/api/sync"
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(address, additional_headers={"Origin": origin})
    assert refused.value.response.status_code == 403
    assert b"--allow-origin" in (refused.value.response.body or b"")


async def test_a_socket_for_another_host_is_refused(servers: tuple[LoopbackServer, LoopbackServer]) -> None:
    port = int(servers[0].origin.rpartition(":")[2])
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect("ws://evil.example/api/sync", host="127.0.0.1", port=port)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("origin", [None, "http://localhost:5173", "https://app.example"])
async def test_sockets_of_allowed_pages_are_accepted(
    servers: tuple[LoopbackServer, LoopbackServer], origin: str | None
) -> None:
    address = servers[0].origin.replace("http", "ws") + "/api/sync"
    headers = {} if origin is None else {"Origin": origin}
    async with websockets.connect(address, additional_headers=headers) as opened:
        assert await opened.recv() == "welcome"


async def test_the_site_port_has_no_socket(servers: tuple[LoopbackServer, LoopbackServer]) -> None:
    with pytest.raises(websockets.InvalidStatus):
        await websockets.connect(servers[1].origin.replace("http", "ws") + "/api/sync")


@pytest.mark.parametrize("query", ["adminKey=a%7Cb", "%61dminKey=x", "x=1&adminKey", "adminKey="])
async def test_a_key_in_the_address_is_refused_whatever_it_is(client: httpx2.AsyncClient, query: str) -> None:
    response = await client.get(f"/version?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "AdminKeyInAddress")
    assert "a|b" not in response.text


async def test_without_an_origin_there_are_no_cors_headers(client: httpx2.AsyncClient) -> None:
    response = await client.get("/version")
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/version", "/api/nope", "/api/fail"])
@pytest.mark.parametrize("origin", ["http://localhost:5173", "http://127.0.0.1:1", "https://app.example"])
async def test_allowed_origins_are_mirrored_with_credentials(
    client: httpx2.AsyncClient, path: str, origin: str
) -> None:
    response = await client.get(path, headers={"Origin": origin})
    assert response.headers["access-control-allow-origin"] == origin
    assert response.headers["access-control-allow-credentials"] == "true"


async def test_a_preflight_allows_what_is_asked_for(client: httpx2.AsyncClient) -> None:
    response = await client.options(
        "/api/query",
        headers={
            "Origin": "http://localhost:5173",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,convex-client",
        },
    )
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["access-control-allow-origin"] == "http://localhost:5173"
    assert response.headers["access-control-allow-headers"] == "content-type,convex-client"
    assert response.headers["access-control-allow-methods"] == "GET,POST,OPTIONS,PATCH,DELETE,PUT"
    assert response.headers["access-control-max-age"] == "86400"
    assert response.headers["vary"] == "origin, access-control-request-method, access-control-request-headers"


@pytest.mark.parametrize("origin", ["http://localhost:5173", "https://evil.example"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
async def test_http_actions_decide_about_origins_themselves(
    client: httpx2.AsyncClient, method: str, origin: str
) -> None:
    response = await client.request(method, "/http/hi?adminKey=theirs", headers={"Origin": origin})
    assert (response.status_code, response.text) == (200, f"{method} /http/hi")
    assert response.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in response.headers
