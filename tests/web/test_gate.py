import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from urllib.parse import urlsplit

import httpx2
import pytest
import pytest_asyncio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.core.http import LoopbackServer
from convex_evals.web import Site, create_app
from convex_evals.web.gate import BODY_BYTES, FORM_BYTES

OWN = "http://{host}"
ECHO = "/api/v1/echo"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "[::1]:9000", "app.localhost"])
async def test_this_machine_is_answered_under_its_own_names(client: httpx2.AsyncClient, host: str) -> None:
    assert (await client.get("/api/v1/runs", headers={"host": host})).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", ""])
async def test_an_unknown_name_for_this_machine_is_refused(client: httpx2.AsyncClient, host: str) -> None:
    answer = await client.get("/api/v1/runs", headers={"host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "ForeignHost")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"cookie": "session=x"},
    ],
)
async def test_a_change_from_a_cross_origin_page_is_refused(
    client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await client.post("/api/v1/labels", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "ForeignOrigin")


@pytest.mark.parametrize(
    ("headers", "status"), [({"authorization": "Bearer x"}, 401), ({"sec-fetch-site": "same-origin"}, 404), ({}, 404)]
)
async def test_own_pages_and_programs_may_ask_for_changes(
    client: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    assert (await client.post("/nowhere", headers=headers)).status_code == status


async def test_a_page_with_the_origin_of_the_server_may_ask_for_changes(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/nowhere", headers={"origin": str(client.base_url).rstrip("/")})
    assert answer.status_code == 404


@pytest_asyncio.fixture
async def client(site: Site) -> AsyncIterator[httpx2.AsyncClient]:
    """Of an application with two routes more, one of the API and one of the pages: they answer what they get."""
    app = create_app(site)
    app.router.routes[:0] = [Route(path, echo, methods=["POST"]) for path in (ECHO, "/echo")]
    async with LoopbackServer() as server:
        await server.start(app)
        async with httpx2.AsyncClient(base_url=server.origin, timeout=60) as client:
            yield client


async def echo(request: Request) -> Response:
    return Response(await request.body())


async def post(client: httpx2.AsyncClient, body: bytes, **headers: str) -> tuple[int, str]:
    answer = await client.post(ECHO, content=body, headers=headers)
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_body_that_says_it_is_too_large_is_refused(client: httpx2.AsyncClient) -> None:
    assert await post(client, b" " * (BODY_BYTES + 1)) == (413, "TooLarge")


async def test_a_body_in_chunks_is_refused_when_it_gets_too_large(client: httpx2.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES // 65536 + 2):
            yield b" " * 65536

    assert (await client.post(ECHO, content=chunks())).status_code == 413


async def test_a_packed_body_is_unpacked(client: httpx2.AsyncClient) -> None:
    answer = await client.post(ECHO, content=gzip.compress(b"hello" * 9), headers={"content-encoding": "gzip"})
    assert answer.content == b"hello" * 9


async def test_a_decompression_bomb_is_refused(client: httpx2.AsyncClient) -> None:
    bomb = gzip.compress(bytes(BODY_BYTES * 4))
    assert len(bomb) < BODY_BYTES / 100
    assert await post(client, bomb, **{"content-encoding": "gzip"}) == (413, "TooLarge")


@pytest.mark.parametrize(
    ("body", "encoding", "expected"),
    [
        (b"this is not gzip", "gzip", (400, "InvalidBody")),
        (gzip.compress(b"{}", mtime=0)[:-4], "gzip", (400, "InvalidBody")),
        (zlib.compress(b"{}"), "deflate", (415, "UnknownEncoding")),
        (b"{}", "gzip, gzip", (415, "UnknownEncoding")),
    ],
)
async def test_a_body_that_cannot_be_unpacked_is_refused(
    client: httpx2.AsyncClient, body: bytes, encoding: str, expected: tuple[int, str]
) -> None:
    assert await post(client, body, **{"content-encoding": encoding}) == expected


async def test_a_form_may_be_smaller_than_a_record(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/echo", content=b"x" * (FORM_BYTES + 1))
    assert answer.status_code == 413


async def raw(client: httpx2.AsyncClient, request: bytes) -> bytes:
    parts = urlsplit(str(client.base_url))
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(request)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    return answer


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: -1",
        b"Content-Length: two",
        b"Content-Length: 2\r\nContent-Length: 3",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked, identity",
        b"X: " + b"a" * 70_000,
        b"\r\n".join(b"X%d: y" % number for number in range(101)),
    ],
)
async def test_a_head_that_lies_or_is_too_large_is_refused(client: httpx2.AsyncClient, head: bytes) -> None:
    answer = await raw(client, b"POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n{}")
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 431")), answer


async def test_a_body_shorter_than_its_content_length_is_refused(client: httpx2.AsyncClient) -> None:
    answer = await raw(client, b"POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{}")
    assert b" 200 " not in answer.partition(b"\r\n")[0]


async def test_what_follows_a_body_is_not_part_of_it(client: httpx2.AsyncClient) -> None:
    request = b"POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}BOGUS\r\n\r\n"
    answer = await raw(client, request)
    assert b"BOGUS" not in answer


async def test_a_body_that_drips_in_is_cut_off(client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """However steadily it comes: what counts is when all of it is there. Others are answered meanwhile."""
    monkeypatch.setattr("convex_evals.core.http.protocol.REQUEST_SECONDS", 0.5)
    parts = urlsplit(str(client.base_url))
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(b"POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
    ended = asyncio.create_task(reader.read())
    for _ in range(1200):
        if ended.done():
            break
        with suppress(ConnectionError):
            writer.write(b" ")
            await writer.drain()
        await asyncio.sleep(0.05)
    with suppress(ConnectionError):
        assert b" 200 " not in await ended
    writer.close()
    monkeypatch.undo()
    assert (await client.post(ECHO, content=b"hello")).content == b"hello"
