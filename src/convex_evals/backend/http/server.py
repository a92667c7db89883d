"""One ASGI app on one loopback port, inside this process."""

import asyncio
import socket
from typing import Self

import uvicorn
from starlette.types import ASGIApp

HOST = "127.0.0.1"
BACKLOG = 2048
GRACE_SECONDS = 0.5
LARGEST_MESSAGE = 64 * 1024 * 1024
PING_SECONDS = 5.0  # WebSocket clients of the Rust family leave after 30 seconds without a frame
SILENCE_SECONDS = 120.0


class LoopbackServer:
    """The port is taken as soon as the object exists; it answers from `start` on. As a context manager it stops."""

    def __init__(self, port: int = 0) -> None:
        self._socket = _bind(port)
        self._server: uvicorn.Server | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self._socket.getsockname()[1]}"

    async def start(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app,
            http="httptools",
            ws="websockets-sansio",
            ws_max_size=LARGEST_MESSAGE,
            ws_ping_interval=PING_SECONDS,
            ws_ping_timeout=SILENCE_SECONDS,
            ws_per_message_deflate=False,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=60,
        )
        config.load()
        # Starting and stopping by hand instead of `serve()`: no signal handlers, no tick that delays the stop.
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[self._socket])
        self._server = server

    async def stop(self) -> None:
        """Closes idle connections at once; requests that still run get `GRACE_SECONDS`, then are cancelled."""
        if self._server is None:
            self._socket.close()
            return
        state = self._server.server_state
        for server in self._server.servers:
            server.close()
        for connection in list(state.connections):
            connection.shutdown()
        tasks = set(state.tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for connection in list(state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        self._server = None


def _bind(port: int) -> socket.socket:
    # asyncio turns Nagle's algorithm off only for sockets that say they are TCP; with it a second message waits 40 ms.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
        bound.listen(BACKLOG)  # a port that only is bound can be bound again
    except OSError:
        bound.close()
        raise
    bound.setblocking(False)
    return bound
