"""Clients that send what is no message, and clients that do not read."""

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
import pytest
import pytest_asyncio
from websockets.exceptions import ConnectionClosed

from convex_evals.backend.deployment import Deployment
from convex_evals.core.http.protocol import MESSAGE_BYTES

pytestmark = pytest.mark.asyncio(loop_scope="module")

Join = Callable[[Deployment], Awaitable[Any]]
Until = Callable[..., Awaitable[None]]

INVALID = "Received Invalid JSON on websocket: "


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


MALFORMED = {
    "no JSON": "{",
    "no object": "[]",
    "no type": "{}",
    "unknown type": '{"type": "Shout"}',
    "number as text": '{"type": "Mutation", "requestId": "0", "udfPath": "notes:list", "args": []}',
    "missing fields": '{"type": "Mutation"}',
    "nested beyond reason": '{"type": "Mutation", "requestId": 0, "udfPath": "a", "args": ' + deep(100_000) + "}",
    "version out of order": '{"type": "ModifyQuerySet", "baseVersion": 7, "newVersion": 8, "modifications": []}',
    "negative id": '{"type": "Mutation", "requestId": -1, "udfPath": "notes:list", "args": []}',
    "a token of nobody": '{"type": "Authenticate", "baseVersion": 0, "tokenType": "Ghost"}',
}


async def ending(client: Any) -> tuple[list[Any], int]:
    """What the client was told, and the close code it saw."""
    told = []
    with pytest.raises(ConnectionClosed) as closed:
        async with asyncio.timeout(60):
            while True:
                told.append(json.loads(await client.connection.recv()))
    return told, closed.value.rcvd.code if closed.value.rcvd else 1006


async def require_service(client: Any) -> None:
    """A bystander's socket still works."""
    await client.mutate(client.requests, "notes:add", text="x")
    assert (await client.receive("MutationResponse"))["requestId"] == client.requests
    client.requests += 1


@pytest_asyncio.fixture(loop_scope="module")
async def bystander(shared: Deployment, join: Join) -> Any:
    client = await join(shared)
    client.requests = 0
    return client


@pytest.mark.parametrize("frame", MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_message_is_a_fatal_error(shared: Deployment, join: Join, bystander: Any, frame: str) -> None:
    client = await join(shared)
    await client.connection.send(frame)
    told, code = await ending(client)
    assert (told[-1]["type"], code) == ("FatalError", 1005)
    await require_service(bystander)


async def test_what_cannot_be_parsed_is_reported_as_invalid_json(shared: Deployment, join: Join) -> None:
    client = await join(shared)
    await client.connection.send("{nonsense")
    told, _ = await ending(client)
    assert told[-1]["error"].startswith(INVALID)


async def test_a_binary_frame_is_an_internal_error(shared: Deployment, join: Join, bystander: Any) -> None:
    client = await join(shared)
    await client.connection.send(b'{"type": "Event"}')
    assert (await ending(client))[1] == 1011
    await require_service(bystander)


async def test_an_oversized_frame_ends_the_socket(shared: Deployment, join: Join, bystander: Any) -> None:
    client = await join(shared)
    with pytest.raises(ConnectionClosed) as closed:
        await client.connection.send("x" * (MESSAGE_BYTES + 1))
        await client.connection.recv()
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009
    await require_service(bystander)


async def test_bytes_that_are_not_websocket_frames_end_only_their_connection(
    shared: Deployment, bystander: Any
) -> None:
    host, port = shared.url.removeprefix("http://").split(":")
    for rubbish in (b"\x00" * 64, b"GET /api/sync HTTP/1.1\r\nupgrade: websocket\r\n\r\n", b"GET " + b"x" * 100_000):
        with socket.create_connection((host, int(port))) as raw:
            raw.setblocking(False)
            await asyncio.get_running_loop().sock_sendall(raw, rubbish)
            await asyncio.sleep(0.02)
    await require_service(bystander)


async def test_invalid_utf8_ends_only_its_socket(shared: Deployment, join: Join, bystander: Any) -> None:
    client = await join(shared)
    client.connection.transport.write(b"\x81\x82\x00\x00\x00\x00\xff\xfe")
    assert (await ending(client))[1] == 1007
    await require_service(bystander)


async def test_a_client_that_does_not_read_costs_a_bounded_amount_of_memory(
    shared: Deployment, join: Join, bystander: Any
) -> None:
    """Its updates are not made while it has not read the last ones: there is at most one message under way."""
    client = await join(shared)
    client.connection.transport.pause_reading()
    await client.subscribe("notes:big", {"characters": 4_000_000})
    await require_service(bystander)
    before = psutil.Process().memory_info().rss
    for _ in range(40):
        await require_service(bystander)
    assert psutil.Process().memory_info().rss - before < 64 * 1024 * 1024
    client.vanish()
    await require_service(bystander)


async def test_a_client_that_reads_slowly_still_gets_the_newest_state(
    shared: Deployment, join: Join, bystander: Any, until: Until
) -> None:
    client = await join(shared)
    await client.subscribe("notes:list")
    await client.value()
    client.connection.transport.pause_reading()
    for _ in range(20):
        await require_service(bystander)
    newest = (await shared.query("notes:list")).value
    client.connection.transport.resume_reading()
    while json.dumps(await client.value(), separators=(",", ":")) != newest:
        pass


async def test_a_deployment_stops_without_waiting_for_clients_that_do_not_read(
    deploy: Any, faults_app: dict[str, str], join: Join, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convex_evals.backend.sync.outbox.CLOSING_SECONDS", 3600)
    async with Deployment.start() as deployment:
        await deploy(deployment, faults_app)
        client = await join(deployment)
        client.connection.transport.pause_reading()
        for query in range(3):
            await client.subscribe("notes:big", {"characters": 4_000_000, "query": query})
        await until(lambda: len(deployment.log.after(0).entries) > 0)
        await asyncio.sleep(0.2)
        stopping = time.monotonic()
    assert time.monotonic() - stopping < 20
