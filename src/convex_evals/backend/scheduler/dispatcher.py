"""Starts what is due: in order, a few at a time, each row once."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.state import is_paused
from convex_evals.backend.scheduler.planned import Planned, RowKey, planned_rows

logger = logging.getLogger(__name__)

MOST_PARALLEL: Final = 8
LONGEST_NAP_SECONDS: Final = 1.0  # timers do not notice when the wall clock jumps or the machine was asleep
REST_SECONDS: Final = 1.0

Clock = Callable[[], int]


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

    async def loop(self) -> None:
        while True:
            self._woken.clear()
            await self._nap(self._dispatch())

    async def stop(self) -> None:
        """Ends what runs. To be called when the loop has ended."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _dispatch(self) -> int | None:
        """Starts what is due. When to look again, if nothing happens before; None: only when something happens."""
        transaction = self._host.database.begin()
        if is_paused(transaction):
            return None
        now = self._now()
        for row in planned_rows(transaction, self._host.application, self._table, limit=2 * MOST_PARALLEL):
            if row.key in self._running:
                continue
            if len(self._running) == MOST_PARALLEL:
                return None
            if row.due > now:
                return row.due
            self._running[row.key] = asyncio.create_task(self._run_guarded(row))
        return None

    async def _nap(self, until: int | None) -> None:
        seconds = None if until is None else min((until - self._now()) / 1e9, LONGEST_NAP_SECONDS)
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
