"""Where functions of a grading may connect to: what its grader listens on while it runs, and nothing else."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from convex_evals.core.processes import base_environment, start
from convex_evals.core.supervisor import descendants
from convex_evals.pipeline.grading.dialer import YES
from convex_evals.pipeline.tools import LOOPBACK

_SOURCE_ROOT: Final = Path(__file__).parents[3]
_DIAL: Final = (
    "import sys; sys.path.append({root!r}); from convex_evals.pipeline.grading.dialer import dial; dial({pid})"
)
_LISTENING: Final = "0A"
_TABLES: Final = ("tcp", "tcp6")
_CONNECT_SECONDS: Final = 10.0


class Listeners(Protocol):
    """What a grader listens on."""

    async def connect(self, port: int) -> socket.socket | None: ...


@dataclass
class GraderNetwork:
    """A policy of deployments (`backend.runtime.NetworkPolicy`). One per grading: its graders run one after another."""

    _listeners: Listeners | None = field(default=None, init=False)

    async def connect(self, host: str, port: int) -> socket.socket | None:
        if self._listeners is None or host not in (*LOOPBACK, "::1"):
            return None
        return await self._listeners.connect(port)

    @contextmanager
    def reaching(self, listeners: Listeners) -> Iterator[None]:
        """In the block, functions may connect to these."""
        self._listeners = listeners
        try:
            yield
        finally:
            self._listeners = None


@dataclass(frozen=True, slots=True)
class TreeListeners:
    """Of a process and its descendants, which share our network: the socket must belong to one of them."""

    pid: int

    async def connect(self, port: int) -> socket.socket | None:
        if not await asyncio.to_thread(self._owns, port):
            return None
        opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await asyncio.get_running_loop().sock_connect(opened, ("127.0.0.1", port))
        except BaseException:
            opened.close()
            raise
        return opened

    def _owns(self, port: int) -> bool:
        wanted = {f"socket:[{inode}]" for table in _TABLES for inode in _listening(Path("/proc/net") / table, port)}
        pids = [self.pid, *(process.pid for process in descendants(self.pid))] if wanted else []
        return any(not wanted.isdisjoint(_files(pid)) for pid in pids)


@dataclass
class OwnNetworkListeners:
    """Of a program in a network of its own, except for `relayed` ports, which lead out of it again. A small process
    that joins this network, once it is needed, opens the connections."""

    pid: int
    relayed: frozenset[int]
    _stack: AsyncExitStack
    _channel: socket.socket | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    @asynccontextmanager
    async def of(cls, pid: int, relayed: frozenset[int]) -> AsyncIterator["OwnNetworkListeners"]:
        async with AsyncExitStack() as stack:
            yield cls(pid, relayed, stack)

    async def connect(self, port: int) -> socket.socket | None:
        if port in self.relayed:
            return None
        async with self._turn:
            channel = self._channel or await self._start()
            return await asyncio.to_thread(_dial, channel, port)

    async def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        self._channel = self._stack.enter_context(closing(ours))
        ours.settimeout(_CONNECT_SECONDS)
        code = _DIAL.format(root=str(_SOURCE_ROOT), pid=self.pid)
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            with theirs:
                dialer = await start(
                    [sys.executable, "-I", "-S", "-c", code],
                    cwd=Path("/"),
                    stdin=theirs.fileno(),
                    stdout=nowhere,
                    stderr=nowhere,
                    environment=base_environment(Path("/nonexistent")),
                )
        finally:
            os.close(nowhere)
        await self._stack.enter_async_context(dialer)
        return ours


def _dial(channel: socket.socket, port: int) -> socket.socket | None:
    with suppress(OSError):
        channel.sendall(port.to_bytes(2, "big"))
        said, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
        if said == YES and descriptors:
            opened = socket.socket(fileno=descriptors[0])
            opened.setblocking(False)
            return opened
    return None


def _listening(table: Path, port: int) -> Iterator[str]:
    """The inodes of sockets that listen on the port."""
    with suppress(OSError):
        for line in table.read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == _LISTENING and int(columns[1].rpartition(":")[2], 16) == port:
                yield columns[9]


def _files(pid: int) -> Iterator[str]:
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208
            with suppress(OSError):
                yield os.readlink(f"{folder}/{name}")  # noqa: PTH115
