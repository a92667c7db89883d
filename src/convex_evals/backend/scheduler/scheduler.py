"""The scheduler of one deployment."""

import asyncio
import logging
from collections.abc import Callable

from convex_evals.backend.database import Commit
from convex_evals.backend.functions import SCHEDULED_JOBS, FunctionRunner
from convex_evals.backend.scheduler import cron_jobs
from convex_evals.backend.scheduler.cron_jobs import CronRuns
from convex_evals.backend.scheduler.dispatcher import Clock, Dispatcher, RowKey
from convex_evals.backend.scheduler.jobs import JobRuns, Retention

logger = logging.getLogger(__name__)

STATE = "_backend_state"


class Scheduler:
    """Runs the rows of `_scheduled_jobs` and `_cron_next_run` when they are due. `now` is the time that functions see,
    in ns."""

    def __init__(self, functions: FunctionRunner, now: Clock | None = None) -> None:
        self._host = functions.host
        now = now or self._function_time
        self._job_runs = JobRuns(functions, now)
        self._jobs = Dispatcher(functions.host, SCHEDULED_JOBS, self._job_runs.run, now)
        self._crons = Dispatcher(functions.host, cron_jobs.NEXT_RUNS, CronRuns(functions, now).run, now)
        self._retention = Retention(functions, now)
        self._tasks: list[asyncio.Task[None]] = []
        self._ignore_commits: Callable[[], None] | None = None
        self._host.current.on_change(lambda _: self.wake())

    def _function_time(self) -> int:
        """That of the latest commit if the machine's clock was set back since."""
        return max(self._host.clock.now_ns(), self._host.database.latest)

    def start(self) -> None:
        """What became due while the deployment was down runs at once. It can be started again after a stop."""
        self._ignore_commits = self._host.database.on_commit(self._on_commit)
        self._host.settle = self.settle
        self._tasks = [asyncio.create_task(part.loop()) for part in (self._jobs, self._crons, self._retention)]

    async def stop(self) -> None:
        """Stops everything. A mutation that was running has not happened; an action has failed (see `jobs.py`)."""
        if self._ignore_commits is not None:
            self._ignore_commits()
            self._ignore_commits = None
        for task in self._tasks:
            task.cancel()
        for ending in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(ending, Exception):
                logger.error("a part of the scheduler had ended before it was stopped", exc_info=ending)
        await asyncio.gather(self._jobs.stop(), self._crons.stop())

    async def settle(self) -> None:
        """Scheduled mutations that are due now come before whoever waits here; actions do not, nor cron jobs."""
        await self._jobs.settle(self._job_runs.is_mutation)

    @property
    def running(self) -> frozenset[RowKey]:
        return self._jobs.running | self._crons.running

    def next_due(self) -> int | None:
        """When the next run that has not begun is due, perhaps already; None when none is planned."""
        return min((due for part in (self._jobs, self._crons) if (due := part.next_due()) is not None), default=None)

    def wake(self) -> None:
        """Look again: rows, code or the clock have changed."""
        self._jobs.wake()
        self._crons.wake()

    def _on_commit(self, commit: Commit) -> None:
        written = {write.table.name for write in commit.writes}
        if written & {SCHEDULED_JOBS, STATE}:
            self._jobs.wake()
        if written & {cron_jobs.NEXT_RUNS, STATE}:
            self._crons.wake()
