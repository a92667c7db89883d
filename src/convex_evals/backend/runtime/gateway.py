"""The network of an action worker: one port, which is answered here.

A worker has a network of its own in which nothing can be reached but that port. It connects there, says over its
channel which of its connections is meant for whom, and is told whether it got through. The worker's part
(`js/network.mjs`) makes that look like Node's own network; whoever does without it gets no further, for nothing is
passed on unasked.
"""

import asyncio
import contextlib
import errno
import socket
from dataclasses import dataclass
from typing import Final, Protocol

from convex_evals.backend.runtime.network_policy import Network, NetworkPolicy, is_loopback, plain_address

PORT: Final = 1  # of the worker's own loopback
MOST_UNCLAIMED: Final = 512
ARRIVAL_SECONDS: Final = 10.0  # between the word of a connection and the connection itself
CONNECT_SECONDS: Final = 75.0


class PublicServer(Protocol):
    async def __call__(self, accepted: socket.socket, *, site: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class OwnDeployment:
    """What functions reach of the deployment they run in: its public part, where nobody is an administrator."""

    port: int
    site_port: int
    serve: PublicServer


@dataclass(frozen=True, slots=True)
class Outside:
    """What the functions of one deployment may reach."""

    policy: NetworkPolicy = Network.LOOPBACK
    own: OwnDeployment | None = None

    async def connect(self, inside: socket.socket, host: str, port: int) -> int:
        """Connects a socket of a worker with whom it asked for, and takes it over: 0, or the number of an error."""
        with contextlib.ExitStack() as unused:
            unused.callback(inside.close)
            address = plain_address(host)
            if address is None:
                return errno.EINVAL
            is_here = is_loopback(address)
            own = self.own
            if own is not None and is_here and port in (own.port, own.site_port):
                unused.pop_all()
                await own.serve(inside, site=port == own.site_port)
                return 0
            if not is_here and self.policy is not Network.INTERNET:
                return errno.EACCES
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    opened = await self.policy.connect(address, port)
            except TimeoutError:
                return errno.ETIMEDOUT
            except OSError as error:
                return error.errno or errno.ECONNREFUSED
            if opened is None:
                return errno.ECONNREFUSED
            unused.callback(opened.close)
            await _join(inside, opened)
            unused.pop_all()
            return 0

    async def find(self, name: str) -> list[str] | None:
        """The addresses of a name; None when nobody may be asked."""
        if self.policy is not Network.INTERNET:
            return None
        try:
            found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return []
        return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Gateway:
    """Of one worker. `listener` becomes the gateway's own."""

    def __init__(self, listener: socket.socket, outside: Outside) -> None:
        self._listener = listener
        self._outside = outside
        self._unclaimed: dict[int, socket.socket] = {}  # by the port they come from, oldest first
        self._expected: dict[int, asyncio.Future[socket.socket]] = {}
        asyncio.get_running_loop().add_reader(listener, self._accept)

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    async def connect(self, from_port: int, host: str, port: int) -> int:
        """What becomes of the worker's connection that comes from `from_port`: 0, or the number of an error."""
        try:
            inside = await self._claim(from_port)
        except TimeoutError:
            return errno.ECONNABORTED
        return await self._outside.connect(inside, host, port)

    async def find(self, name: str) -> list[str] | None:
        return await self._outside.find(name)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        for accepted in self._unclaimed.values():
            accepted.close()
        self._unclaimed.clear()

    async def _claim(self, from_port: int) -> socket.socket:
        accepted = self._unclaimed.pop(from_port, None)
        if accepted is not None:
            return accepted
        arriving: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        self._expected[from_port] = arriving
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS):
                return await arriving
        finally:
            if self._expected.get(from_port) is arriving:
                del self._expected[from_port]

    def _accept(self) -> None:
        try:
            accepted, address = self._listener.accept()
        except OSError:  # it is gone again, or this process has no room for it
            return
        accepted.setblocking(False)
        arriving = self._expected.get(address[1])
        if arriving is not None and not arriving.done():
            arriving.set_result(accepted)
            return
        replaced = self._unclaimed.pop(address[1], None)
        self._unclaimed[address[1]] = accepted
        if replaced is None and len(self._unclaimed) > MOST_UNCLAIMED:
            replaced = self._unclaimed.pop(next(iter(self._unclaimed)))
        if replaced is not None:
            replaced.close()


def open_listener() -> socket.socket:
    """For workers without a network of their own, where the kernel has none to give."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=MOST_UNCLAIMED)
    listener.setblocking(False)
    return listener


class _Half(asyncio.Protocol):
    """One of two connections: what arrives here leaves there."""

    transport: asyncio.Transport
    other: "_Half"

    def __init__(self) -> None:
        self._has_ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.pause_reading()  # until the other half is there

    def data_received(self, data: bytes) -> None:
        self.other.transport.write(data)

    def eof_received(self) -> bool:
        self._has_ended = True
        if self.other._has_ended:
            self.other.transport.close()
            return False
        if not self.other.transport.is_closing():
            self.other.transport.write_eof()
        return True

    def pause_writing(self) -> None:
        self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is None:
            self.other.transport.close()
        else:
            self.other.transport.abort()


async def _join(inside: socket.socket, outside: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    halves = _Half(), _Half()
    for half, end in zip(halves, (inside, outside), strict=True):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.connect_accepted_socket(lambda half=half: half, end)  # type: ignore[misc]
    halves[0].other, halves[1].other = halves[1], halves[0]
    for half in halves:
        half.transport.resume_reading()
