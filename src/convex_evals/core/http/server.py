"""Servers inside this process: one ASGI app on a loopback port, or on connections accepted by others."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from convex_evals.core.http.protocol import (
    GRACE_SECONDS,
    IDLE_SECONDS,
    MESSAGE_BYTES,
    PING_SECONDS,
    SILENCE_SECONDS,
    BoundedProtocol,
)

HOST = "127.0.0.1"
BACKLOG = 2048
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class AppServer:
    """HTTP and WebSocket for one ASGI app, on connections that others have accepted."""

    def __init__(self, app: ASGIApp, most_connections: int | None = None, message_bytes: int = MESSAGE_BYTES) -> None:
        self._most_connections = most_connections
        self._config = uvicorn.Config(
            app,
            http="httptools",
            ws="websockets-sansio",
            ws_max_size=message_bytes,
            ws_ping_interval=PING_SECONDS,
            ws_ping_timeout=SILENCE_SECONDS,
            ws_per_message_deflate=False,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=int(IDLE_SECONDS),
        )
        self._config.load()
        self._state = ServerState()
        self._stopped = False

    def protocol(self) -> asyncio.Protocol:
        return BoundedProtocol(self._config, self._state)

    async def serve(self, accepted: socket.socket) -> None:
        """Takes over the socket and returns before its requests are answered; beyond the limit it is closed."""
        if self._stopped or self._is_full:
            accepted.close()
            return
        accepted.setblocking(False)
        await asyncio.get_running_loop().connect_accepted_socket(self.protocol, accepted)

    @property
    def _is_full(self) -> bool:
        return self._most_connections is not None and len(self._state.connections) >= self._most_connections

    @property
    def requests(self) -> int:
        """Requests under way."""
        return len(self._state.tasks)

    async def stop(self) -> None:
        """Closes idle connections at once; requests that still run get `GRACE_SECONDS`, then are cancelled."""
        self._stopped = True
        for connection in list(self._state.connections):
            connection.shutdown()
        tasks = set(self._state.tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for connection in list(self._state.connections):
            if connection.transport is not None:
                connection.transport.abort()


class LoopbackServer:
    """Holds its port from construction on, and answers from `start` on. As a context manager it stops."""

    def __init__(self, port: int = 0) -> None:
        self._socket = bind(HOST, port)
        self._listening: asyncio.Server | None = None
        self._server: AppServer | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    @property
    def requests(self) -> int:
        """Requests under way."""
        return self._server.requests if self._server is not None else 0

    async def start(self, app: ASGIApp) -> None:
        self._server = AppServer(app)
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._server.protocol, sock=self._socket, backlog=BACKLOG)

    async def stop(self) -> None:
        """Accepts no new connection, and stops the others as `AppServer.stop` does."""
        if self._server is None or self._listening is None:
            self._socket.close()
            return
        self._listening.close()
        await self._server.stop()
        self._server = self._listening = None


def bind(host: str, port: int) -> socket.socket:
    """Listening from now on. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    # asyncio turns Nagle's algorithm off only for sockets that say they are TCP; with it a second message waits 40 ms.
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(BACKLOG)  # a port that is bound but not listening can be bound again
    except OSError:
        bound.close()
        raise
    bound.setblocking(False)
    return bound


@contextmanager
def stop_signals() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set, instead of ending the process."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stopped.set)
    try:
        yield stopped
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
