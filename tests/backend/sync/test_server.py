import asyncio
import json
import time
from typing import Any

from convex_evals.backend.admin_keys import AdminKeys
from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.deployed import CurrentApplication
from convex_evals.backend.identity import Authenticator
from convex_evals.backend.sync import Disconnected, SessionSettings, SyncServer

Deployment = Any


class MemorySocket:
    """A wire without a wire, for what would take long or a lot over a real one."""

    ip: str | None = None
    user_agent: str | None = None

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[str | None] = asyncio.Queue()
        self.outgoing: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent_at: list[float] = []

    def say(self, **message: object) -> None:
        self.incoming.put_nowait(json.dumps(message))

    async def receive(self) -> str:
        text = await self.incoming.get()
        if text is None:
            raise Disconnected
        return text

    async def send(self, text: str) -> None:
        self.sent_at.append(time.monotonic())
        self.outgoing.put_nowait(json.loads(text))

    async def close(self, code: int | None, reason: str) -> None:
        self.outgoing.put_nowait({"close": code})


async def served(deployment: Deployment, settings: SessionSettings) -> tuple[MemorySocket, asyncio.Task[None]]:
    authenticator = Authenticator(AdminKeys("test", "secret"), JwtVerifier(CurrentApplication()))
    server = SyncServer(deployment.functions, deployment.world)
    socket = MemorySocket()
    serving = asyncio.create_task(server.serve(socket, settings, authenticator))
    socket.say(type="Connect", sessionId="s", connectionCount=0)
    return socket, serving


async def hang_up(socket: MemorySocket, serving: asyncio.Task[None]) -> None:
    socket.incoming.put_nowait(None)
    await serving


async def test_silence_is_broken_by_pings_and_nothing_else(deployment: Deployment) -> None:
    socket, serving = await served(deployment, SessionSettings(ping_seconds=0.02))
    async with asyncio.timeout(60):
        assert [await socket.outgoing.get() for _ in range(3)] == [{"type": "Ping"}] * 3
    await hang_up(socket, serving)


async def test_another_message_postpones_the_ping(deployment: Deployment) -> None:
    socket, serving = await served(deployment, SessionSettings(ping_seconds=0.1))
    await asyncio.sleep(0.06)
    socket.say(type="ModifyQuerySet", baseVersion=0, newVersion=1, modifications=[])
    heard = [(await socket.outgoing.get())["type"]]
    while heard[-1] != "Transition":  # a busy machine: there already was a ping
        heard.append((await socket.outgoing.get())["type"])
    assert (await socket.outgoing.get())["type"] == "Ping"
    await hang_up(socket, serving)
    assert socket.sent_at[len(heard)] - socket.sent_at[len(heard) - 1] >= 0.1


def big_query(size: int) -> dict[str, object]:
    return {"type": "Add", "queryId": 0, "udfPath": "m:big", "args": [{"size": size}]}


async def test_a_large_transition_comes_in_pieces_that_follow_each_other(deployment: Deployment) -> None:
    socket, serving = await served(deployment, SessionSettings(joins_chunks=True, largest_whole=1001))
    socket.say(type="ModifyQuerySet", baseVersion=0, newVersion=1, modifications=[big_query(2000)])
    first = await socket.outgoing.get()
    parts = [first] + [await socket.outgoing.get() for _ in range(first["totalParts"] - 1)]
    assert {part["type"] for part in parts} == {"TransitionChunk"}
    assert [part["partNumber"] for part in parts] == list(range(len(parts)))
    transition = json.loads("".join(part["chunk"] for part in parts))
    assert transition["modifications"][0]["value"] == "é" * 2000
    await hang_up(socket, serving)


async def test_clients_that_cannot_join_pieces_get_the_whole(deployment: Deployment) -> None:
    socket, serving = await served(deployment, SessionSettings(joins_chunks=False, largest_whole=100))
    socket.say(type="ModifyQuerySet", baseVersion=0, newVersion=1, modifications=[big_query(2000)])
    assert (await socket.outgoing.get())["type"] == "Transition"
    await hang_up(socket, serving)


async def test_a_small_transition_is_never_cut(deployment: Deployment) -> None:
    socket, serving = await served(deployment, SessionSettings(joins_chunks=True))
    socket.say(type="ModifyQuerySet", baseVersion=0, newVersion=1, modifications=[big_query(10)])
    assert (await socket.outgoing.get())["type"] == "Transition"
    await hang_up(socket, serving)
