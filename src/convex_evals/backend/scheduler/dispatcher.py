"""Starts what is due: in order, a few at a time, each row once."""

import asyncio
import contextlib
import heapq
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from convex_evals.backend.database import Bound, Transaction
from convex_evals.backend.deployed import ROOT, Application
from convex_evals.backend.environment import is_paused
from convex_evals.backend.functions import Host

logger = logging.getLogger(__name__)

ANY_TIME = Bound(0, included=True)  # rows that are over have no time, and stand before it

MAX_PARALLEL: Final = 8
MAX_SLEEP_SECONDS: Final = 1.0  # timers do not notice when the wall clock jumps or the machine was asleep
REST_SECONDS: Final = 1.0
SETTLE_SECONDS: Final = 10.0  # longer than a mutation may run, also on a busy machine

Clock = Callable[[], int]


class RowKey(NamedTuple):
    namespace: str
    id: str


@dataclass(frozen=True, slots=True)
class Planned:
    key: RowKey
    due: int  # ns
    creation_time: float


def namespaces(application: Application | None) -> list[str]:
    """Also those of unmounted components: what they had planned is still planned."""
    instances = application.instances.values() if application else ()
    return sorted({ROOT, *(instance.id for instance in instances)})


def planned_rows(transaction: Transaction, application: Application | None, table: str, limit: int) -> list[Planned]:
    """The first `limit` rows in the order in which they are due; of those due at once, the oldest first."""
    found = (
        Planned(RowKey(namespace, row.id), cast(int, row.value["nextTs"]), row.creation_time)
        for namespace in namespaces(application)
        for row in transaction.system.scan(namespace, table, "by_next_ts", lower=ANY_TIME, limit=limit)
    )
    return heapq.nsmallest(limit, found, key=lambda row: (row.due, row.creation_time))


def backoff_seconds(failures: int, first: float, longest: float) -> float:
    """Doubles with every failure. Half of it is left to chance: what failed together is not tried together."""
    most = min(first * 2.0 ** min(failures, 32), longest)
    return random.uniform(most / 2, most)


class Dispatcher:
    """`run` is called with rows of `table` whose `nextTs` has come. It leaves the row planned for later, or over: a row
    that is still due when `run` returns is run again."""

    def __init__(self, host: Host, table: str, run: Callable[[Planned], Awaitable[None]], now: Clock) -> None:
        self._host = host
        self._table = table
        self._run = run
        self._now = now
        self._woken = asyncio.Event()
        self._running: dict[RowKey, asyncio.Task[None]] = {}

    def wake(self) -> None:
        self._woken.set()

    @property
    def running(self) -> frozenset[RowKey]:
        return frozenset(self._running)

    def next_due(self) -> int | None:
        """When the next row that is not running is due, perhaps already; None when nothing is planned or may run."""
        transaction = self._host.database.begin()
        if is_paused(transaction):
            return None
        limit = len(self._running) + 1
        planned = planned_rows(transaction, self._host.application, self._table, limit)
        return next((row.due for row in planned if row.key not in self._running), None)

    async def loop(self) -> None:
        while True:
            self._woken.clear()
            await self._nap(self._dispatch())

    async def settle(self, is_awaited: Callable[[RowKey], bool]) -> None:
        """Starts what is due, and waits for a while for the rows that `is_awaited` selects."""
        if self._woken.is_set():
            self._dispatch()
        awaited = [task for key, task in self._running.items() if is_awaited(key)]
        if awaited:
            await asyncio.wait(awaited, timeout=SETTLE_SECONDS)

    async def stop(self) -> None:
        """Ends what runs. To be called when the loop has ended."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _dispatch(self) -> int | None:
        """Starts what is due. Returns when to look again, unless something happens before; None: only then."""
        transaction = self._host.database.begin()
        if is_paused(transaction):
            return None
        now = self._now()
        for row in planned_rows(transaction, self._host.application, self._table, limit=2 * MAX_PARALLEL):
            if row.key in self._running:
                continue
            if len(self._running) == MAX_PARALLEL:
                return None
            if row.due > now:
                return row.due
            self._running[row.key] = asyncio.create_task(self._run_guarded(row))
        return None

    async def _nap(self, until: int | None) -> None:
        seconds = None if until is None else min((until - self._now()) / 1e9, MAX_SLEEP_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    async def _run_guarded(self, row: Planned) -> None:
        try:
            await self._run(row)
        except Exception:
            logger.exception("%s %s could not be run; it will be tried again", self._table, row.key.id)
            await asyncio.sleep(REST_SECONDS)
        finally:
            del self._running[row.key]
            self.wake()
