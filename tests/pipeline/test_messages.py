import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from convex_evals.pipeline.messages import Trouble, receive, send


@asynccontextmanager
async def conversation() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    ours, theirs = socket.socketpair()
    reader, reader_end = await asyncio.open_connection(sock=theirs)
    _, writer = await asyncio.open_connection(sock=ours)
    try:
        yield reader, writer
    finally:
        for end in (writer, reader_end):
            end.close()


async def test_messages_arrive_in_order_however_long_they_are() -> None:
    async with conversation() as (reader, writer):
        long = Trouble("x" * 3_000_000)
        sending = asyncio.create_task(send(writer, long))
        assert await receive(reader) == long
        await sending
        await send(writer, Trouble("short"))
        assert await receive(reader) == Trouble("short")


@pytest.mark.parametrize("last_bytes", [b"", b"\0\0", struct.pack("!I", 9) + b"{"], ids=["nothing", "length", "body"])
async def test_a_peer_that_disconnects_ends_the_stream(last_bytes: bytes) -> None:
    async with conversation() as (reader, writer):
        writer.write(last_bytes)
        writer.close()
        assert await receive(reader) is None


async def test_what_is_not_a_message_is_refused() -> None:
    async with conversation() as (reader, writer):
        body = b'{"kind": "Nonsense", "value": {}}'
        writer.write(struct.pack("!I", len(body)) + body)
        with pytest.raises(KeyError):
            await receive(reader)
