"""Clients that do not keep to the rules, on raw sockets: each is answered or cut off, and others notice nothing."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.http.bodies import FUNCTION_BODY_BYTES
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.http.protocol import HEAD_BYTES, MOST_HEADERS

HEAD = b"POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
PATIENCE = 60


@dataclass
class Client:
    """A connection on which anything can be said."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> bytes:
        """Everything until the server closes."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionResetError:
                return b""

    async def flood(self, data: bytes, most: int) -> int:
        """Says it again and again, and returns how many bytes were taken before the server hung up."""
        async with asyncio.timeout(PATIENCE):
            for sent in itertools.count(0, len(data)):
                try:
                    await self.say(data)
                except ConnectionError:
                    return sent
                if sent > most:
                    pytest.fail(f"the server took more than {most} bytes")
        raise AssertionError("unreachable")


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with Deployment.start() as running:
        yield running
        async with httpx2.AsyncClient(timeout=PATIENCE) as others:  # whatever happened, it still serves
            assert (await others.get(f"{running.url}/version")).status_code == 200


@pytest.fixture
async def connect(deployment: Deployment) -> AsyncIterator[Callable[[], "asyncio.Future[Client]"]]:
    opened: list[Client] = []

    async def open_connection() -> Client:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(deployment.url.rpartition(":")[2]))
        opened.append(Client(reader, writer))
        return opened[-1]

    yield lambda: asyncio.ensure_future(open_connection())
    for client in opened:
        client.writer.close()


Connect = Callable[[], "asyncio.Future[Client]"]


@pytest.mark.parametrize(("headers", "status"), [(MOST_HEADERS, b"200"), (MOST_HEADERS + 1, b"431")])
async def test_a_request_may_have_a_hundred_headers(connect: Connect, headers: int, status: bytes) -> None:
    client = await connect()
    more = b"".join(b"x-%d: 1\r\n" % number for number in range(headers - 2))
    await client.say(b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more + b"\r\n")
    assert (await client.answer()).split()[1] == status


@pytest.mark.parametrize(
    "head",
    [
        b"GET /version HTTP/1.1\r\nHost: localhost\r\nx: " + b"a" * (HEAD_BYTES + 1) + b"\r\n\r\n",
        b"GET /" + b"a" * (HEAD_BYTES + 1) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["header", "path"],
)
async def test_a_head_that_is_too_large_is_refused_in_one_sentence(connect: Connect, head: bytes) -> None:
    client = await connect()
    await client.say(head)
    answer = await client.answer()
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert answer.endswith(b"Expected at most 100 headers and 65536 bytes, but the request has more.")


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"GET /version HTTP/1.1\r\nx: ", b"a"),
        (b"GET /", b"a"),
        (b"GET /version HTTP/1.1\r\n", b"a: b\r\n"),
        (b"", b"\r\n"),
    ],
)
async def test_a_head_without_end_is_cut_off(connect: Connect, start: bytes, more: bytes) -> None:
    client = await connect()
    await client.say(start)
    assert await client.flood(more * 4096, 20 * MEBIBYTE) > 0


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: five\r\n\r\n",
        HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n",
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ],
)
async def test_an_invalid_request_gets_an_error_that_says_so(connect: Connect, request_bytes: bytes) -> None:
    client = await connect()
    await client.say(request_bytes)
    answer = await client.answer()
    assert not answer or answer.startswith(b"HTTP/1.1 400 ")


async def test_a_length_that_never_comes_ends_with_the_client(connect: Connect) -> None:
    client = await connect()
    await client.say(HEAD + b"Content-Length: 1000\r\n\r\n{")
    client.writer.write_eof()
    assert await client.answer() == b""


@pytest.mark.parametrize(
    ("start", "trickle", "expected"),
    [
        (b"GET /version HTTP/1.1\r\n", b"a", b"408"),
        (HEAD + b"Content-Length: 1000\r\n\r\n", b" ", None),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", None),
    ],
)
async def test_a_request_that_trickles_in_is_given_up(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, start: bytes, trickle: bytes, expected: bytes | None
) -> None:
    monkeypatch.setattr("convex_evals.core.http.protocol.REQUEST_SECONDS", 0.3)
    answer = await _trickled(await connect(), start, trickle)
    for _ in range(5 if expected else 0):  # a byte sent after the end may destroy an answer that was not read yet
        answer = answer or await _trickled(await connect(), start, trickle)
    assert answer.split()[1:2] == ([expected] if expected else [])


async def _trickled(client: Any, start: bytes, trickle: bytes) -> bytes:
    await client.say(start)
    answering = asyncio.create_task(client.answer())
    while not answering.done():
        try:
            await client.say(trickle)
        except ConnectionError:
            break
        await asyncio.sleep(0.02)
    return bytes(await answering)


async def test_a_connection_that_says_nothing_is_closed(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convex_evals.core.http.protocol.IDLE_SECONDS", 0.1)
    assert await (await connect()).answer() == b""


@pytest.mark.parametrize("path", [b"/api/query", b"/api/deploy2/start_push", b"/echo", b"/api/run/a/b"])
async def test_a_body_without_end_is_refused_and_cut_off(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, path: bytes
) -> None:
    monkeypatch.setattr("convex_evals.core.http.protocol.REST_SECONDS", 0.2)
    client = await connect()
    await client.say(HEAD.replace(b"/api/query", path) + b"Transfer-Encoding: chunked\r\n\r\n")
    reading = asyncio.create_task(client.reader.readline())
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    taken = await client.flood(chunk, 4096 * MEBIBYTE)
    assert taken >= FUNCTION_BODY_BYTES
    assert (await reading).startswith(b"HTTP/1.1 413 ")


async def test_a_wrong_key_is_refused_before_the_push_is_read(connect: Connect) -> None:
    client = await connect()
    head = HEAD.replace(b"/api/query", b"/api/deploy2/start_push")
    await client.say(head + b"Authorization: Convex wrong\r\nContent-Length: 100000000\r\n\r\n")
    async with asyncio.timeout(PATIENCE):
        assert (await client.reader.readline()).startswith(b"HTTP/1.1 401 ")


async def test_hundreds_of_silent_connections_do_not_block_others(connect: Connect) -> None:
    clients = [await connect() for _ in range(200)]
    for client in clients:
        await client.say(HEAD + b"Content-Length: 10\r\n\r\n{")
