"""Serving the application: where it listens, which hosts it answers for, and until when.

Meanwhile it prepares what pages need, and marks runs whose runners are gone.
"""

import asyncio
import errno
import gc
import ipaddress
import logging
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self

import psutil
from fastapi import FastAPI

from convex_evals.analysis import suite_health
from convex_evals.core.errors import ConvexEvalsError, InfrastructureError, UsageError
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.http import Access, AppServer, InvalidAddress, bind, stop_signals
from convex_evals.runner import WITH_GUIDELINES, WITHOUT_GUIDELINES
from convex_evals.web.pages import load_templates
from convex_evals.web.results import Results, ResultsCache
from convex_evals.web.turns import limit_pages

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore
    from convex_evals.suite import Suite

DEFAULT_PORT: Final = 8484
_EVERYWHERE: Final = ("0.0.0.0", "::")
UPKEEP_SECONDS: Final = 15.0
PREPARATION_SECONDS: Final = 2.0
logger = logging.getLogger(__name__)


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


async def keep_up(store: "ScoresStore", seconds: float = UPKEEP_SECONDS) -> None:
    """Runs until it is cancelled. Several servers may do this on one database."""
    while True:
        try:
            for run_id in await asyncio.to_thread(store.leases.end_overdue):
                logger.warning("nothing is heard from the runner of run %s", run_id)
            await asyncio.to_thread(store.uploads.forget_old_parts)
        except ConvexEvalsError as error:
            logger.error("%s", error)
        await asyncio.sleep(seconds)


async def keep_prepared(cache: ResultsCache, suite: "Suite | None", seconds: float = PREPARATION_SECONDS) -> None:
    """Runs until it is cancelled, so that the first request after a start or a change need not wait for it."""
    await asyncio.to_thread(load_templates)
    await _prepare(cache, suite)
    gc.freeze()  # what is kept is large: looking through it for garbage would take longer than a page
    while True:
        await asyncio.sleep(seconds)
        await _prepare(cache, suite)


async def _prepare(cache: ResultsCache, suite: "Suite | None") -> None:
    with suppress(ConvexEvalsError):  # whoever asks for a page is told
        for step in preparation(cache, suite):
            await asyncio.to_thread(step)


def preparation(cache: ResultsCache, suite: "Suite | None") -> Iterator[Callable[[], object]]:
    """What takes longest, step by step; quick while nothing has changed."""
    results = Results(cache)
    yield results.runs
    yield lambda: [(each.score, each.standings, each.cost, each.tokens) for each in results.settled_runs()]
    for benchmark in results.benchmarks()[:1]:
        for experiment in (WITH_GUIDELINES, WITHOUT_GUIDELINES):
            yield partial(results.leaderboard, benchmark, experiment, suite)
    yield lambda: results.once_settled("health", lambda: suite_health(cache.store))
