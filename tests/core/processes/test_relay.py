import asyncio
import socket
from typing import Any

from convex_evals.core.processes.relay import relayed


async def test_connections_that_are_open_when_the_block_ends_are_closed_without_a_word() -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    inside = socket.create_server(("127.0.0.1", 0))

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        async with relayed([inside], [server.sockets[0].getsockname()[1]]):
            reader, writer = await asyncio.open_connection(*inside.getsockname())
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
    await asyncio.sleep(0)
    assert complaints == []
