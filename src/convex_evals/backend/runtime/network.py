"""The network of functions: who decides where they may connect to, and the gateway that connects them.

A worker has a network of its own with a single port, which is answered here. It connects to that port, says over its
channel whom each of its connections is meant for, and is told whether it was connected. The worker's part
(`js/network.mjs`) makes that look like Node's own network. Code that bypasses it reaches nothing, because nothing is
forwarded without such a request.
"""

import asyncio
import contextlib
import errno
import ipaddress
import socket
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from convex_evals.backend.runtime.limits import CONNECT_SECONDS, MOST_UNCLAIMED_CONNECTIONS

PORT: Final = 1  # of the worker's own loopback
ARRIVAL_SECONDS: Final = 10.0  # from the message about a connection to the connection itself


class NetworkPolicy(Protocol):
    """Asked for every connection that a function wants to open, except those to its own deployment."""

    async def connect(self, host: str, port: int) -> socket.socket | None:
        """A connected socket, non-blocking, which becomes the caller's; None when the function may not connect there.
        `host` is an IP address, one of this machine's loopback unless the policy is `Network.INTERNET`. Raises OSError
        when it may, but nothing answers."""


class Network(Enum):
    """The simple policies. With NONE, functions cannot reach even their own deployment."""

    NONE = "none"
    LOOPBACK = "loopback"
    INTERNET = "internet"

    async def connect(self, host: str, port: int) -> socket.socket | None:
        if self is Network.NONE or (self is Network.LOOPBACK and not is_loopback(host)):
            return None
        return await open_socket(host, port)


async def open_socket(host: str, port: int) -> socket.socket:
    """A connection of this process. `host` is an IP address, so no name is resolved."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK, socket.IPPROTO_TCP)
    try:
        await asyncio.get_running_loop().sock_connect(opened, (host, port))
    except BaseException:
        opened.close()
        raise
    return opened


def plain_address(host: str) -> str | None:
    """An IP address in its usual form: no zone, IPv4 in IPv6 as IPv4. None for a name."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def is_loopback(host: str) -> bool:
    """Of an IP address; names are never resolved to find out."""
    address = plain_address(host)
    return address is not None and ipaddress.ip_address(address).is_loopback


class PublicServer(Protocol):
    async def __call__(self, accepted: socket.socket, *, site: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class OwnDeployment:
    """The part of their deployment that functions reach: the public one, where nobody is an administrator."""

    port: int
    site_port: int
    serve: PublicServer


@dataclass(frozen=True, slots=True)
class Outside:
    """What the functions of one deployment may reach."""

    policy: NetworkPolicy = Network.LOOPBACK
    own: OwnDeployment | None = None

    async def connect(self, inside: socket.socket, host: str, port: int) -> int:
        """Connects a socket of a worker to the requested address, and takes it over: 0, or an errno."""
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
        """The addresses of a name; None when names may not be resolved."""
        if self.policy is not Network.INTERNET:
            return None
        try:
            found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return []
        return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Gateway:
    """The gateway of one worker. It owns `listener`."""

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
        """Connects the worker's connection that comes from `from_port`: 0, or an errno."""
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
        except OSError:  # already closed, or out of file descriptors
            return
        accepted.setblocking(False)
        arriving = self._expected.get(address[1])
        if arriving is not None and not arriving.done():
            arriving.set_result(accepted)
            return
        replaced = self._unclaimed.pop(address[1], None)
        self._unclaimed[address[1]] = accepted
        if replaced is None and len(self._unclaimed) > MOST_UNCLAIMED_CONNECTIONS:
            replaced = self._unclaimed.pop(next(iter(self._unclaimed)))
        if replaced is not None:
            replaced.close()


def open_listener() -> socket.socket:
    """For workers without a network of their own, where the kernel does not offer one."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=MOST_UNCLAIMED_CONNECTIONS)
    listener.setblocking(False)
    return listener


class _Half(asyncio.Protocol):
    """One of two joined connections: data received here is sent there."""

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
