"""Connections from a program's own network to ours: what it sends to one of its ports arrives at the same port here."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

_CHUNK: Final = 1 << 16
_LOOPBACK: Final = "127.0.0.1"


@asynccontextmanager
async def relayed(listeners: Sequence[socket.socket], ports: Sequence[int]) -> AsyncIterator[None]:
    """Inside the block, what is accepted at `listeners[i]` is connected to `ports[i]` of this machine's loopback.
    No connection outlives the block."""
    relays: set[asyncio.Task[None]] = set()
    servers = [
        await asyncio.start_server(_to(port, relays), sock=listener)
        for listener, port in zip(listeners, ports, strict=True)
    ]
    try:
        yield
    finally:
        for server in servers:
            server.close()
        for relay in relays:
            relay.cancel()
        await asyncio.gather(*relays, return_exceptions=True)


def _to(
    port: int, relays: "set[asyncio.Task[None]]"
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        relays.add(task)
        task.add_done_callback(relays.discard)
        # Python 3.11 prints a traceback for a connection whose task ends as cancelled.
        with suppress(asyncio.CancelledError):
            await _connect(reader, writer, port)

    return relay


async def _connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    try:
        answers, questions = await asyncio.open_connection(_LOOPBACK, port)
    except BaseException as error:
        writer.transport.abort()
        if not isinstance(error, OSError):
            raise
        return
    try:
        await asyncio.gather(_copy(reader, questions), _copy(answers, writer))
    finally:
        questions.close()
        writer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(_CHUNK):
            target.write(chunk)
            await target.drain()
        target.write_eof()
