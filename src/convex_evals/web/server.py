"""Serving the application: where it listens, which hosts it answers for, and until when."""

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Self

import psutil
from fastapi import FastAPI

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.http import MEBIBYTE, Access, AppServer, InvalidAddress, bind, stop_signals
from convex_evals.web.turns import limit_pages
from convex_evals.web.upkeep import keep_prepared, keep_up

DEFAULT_PORT: Final = 8484
_EVERYWHERE: Final = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that is bound. `moved` is the port that was taken by something else."""

    socket: socket.socket
    host: str
    moved: int | None = None

    @classmethod
    def open(cls, host: str, port: int | None) -> Self:
        """Without a port the usual one, or any other if that is taken. Raises InfrastructureError and UsageError."""
        try:
            return cls(bind(host, DEFAULT_PORT if port is None else port), host)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and port is None:
                return cls(bind(host, 0), host, DEFAULT_PORT)
            raise _refused(host, port, error) from error

    @property
    def url(self) -> str:
        host = "localhost" if is_loopback(self.host) or self.host in _EVERYWHERE else self.host
        return f"http://{_bracketed(host)}:{self.socket.getsockname()[1]}"

    def access(self, allowed: Iterable[str] = ()) -> Access:
        """Names of this machine, and those that are allowed. Raises UsageError."""
        own = () if is_loopback(self.host) else (self.host, *_names_of_this_machine())
        try:
            return Access.of((), [*map(_bracketed, own), *allowed])
        except InvalidAddress as error:
            raise UsageError(str(error)) from error


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host.partition('%')[0]}]" if ":" in host else host


def _names_of_this_machine() -> Iterator[str]:
    yield from (socket.gethostname(), socket.getfqdn())
    for addresses in psutil.net_if_addrs().values():
        yield from (each.address for each in addresses if each.family in (socket.AF_INET, socket.AF_INET6))


async def serve_until_stopped(app: FastAPI, listener: Listener, on_start: Callable[[], None]) -> None:
    """Returns after SIGINT or SIGTERM, when requests under way are answered or their grace is over."""
    server = AppServer(app, message_bytes=MEBIBYTE)
    limit_pages()
    with stop_signals() as stopped:
        listening = await asyncio.get_running_loop().create_server(server.protocol, sock=listener.socket)
        on_start()
        upkeep = [
            asyncio.create_task(keep_up(app.state.site.store)),
            asyncio.create_task(keep_prepared(app.state.results, app.state.site.suite)),
        ]
        await stopped.wait()
        for task in upkeep:
            task.cancel()
        listening.close()
        await server.stop()


def _refused(host: str, port: int | None, error: OSError) -> InfrastructureError | UsageError:
    if error.errno == errno.EADDRINUSE:
        return InfrastructureError(f"Port {port} is taken; choose another one with --port (0: any).")
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return UsageError(f"--host must be an address of this machine, but {host!r} is none.")
    return InfrastructureError(f"Port {port or DEFAULT_PORT} of {host!r} cannot be listened on: {error.strerror}.")
