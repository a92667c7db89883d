"""The scheduler of one deployment: it runs scheduled mutations exactly once and scheduled actions at most once.

A mutation's row becomes `success` in the mutation's own transaction, so either both happen or neither does, and what
was interrupted simply runs again. An action's row is `inProgress` before the action starts; a row found `inProgress`
that is not running is what a stop or a crash left behind, and has failed. Finished jobs are kept for a week.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from convex_evals.backend.database import Commit, Transaction
from convex_evals.backend.deployed import UdfType
from convex_evals.backend.environment import is_paused
from convex_evals.backend.errors import BackendError
from convex_evals.backend.functions import (
    SCHEDULED_JOBS,
    SUCCESS,
    TRANSIENT_ERROR,
    Call,
    Finished,
    FunctionRunner,
    JobRow,
    MutationOutcome,
    ScheduledJob,
    begin_job,
    delete_job,
    end_job,
    find_target,
    jobs_over_before,
    postpone_job,
    read_job,
    record_failure,
    succeed_job,
)
from convex_evals.backend.scheduler import cron_jobs
from convex_evals.backend.scheduler.cron_jobs import CronRuns
from convex_evals.backend.scheduler.dispatcher import Clock, Dispatcher, Planned, RowKey, backoff_seconds, namespaces
from convex_evals.backend.values import Value

logger = logging.getLogger(__name__)

STATE = "_backend_state"

FIRST_BACKOFF_SECONDS: Final = 0.5
MAX_BACKOFF_SECONDS: Final = 7200.0

T = TypeVar("T")

RETENTION_NS: Final = 7 * 86_400 * 10**9
CHECK_EVERY_SECONDS: Final = 10.0
MAX_AT_ONCE: Final = 1000
SOURCE: Final = "_scheduler"


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
        """Stops everything. A mutation that was running has not happened; an action has failed."""
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
        """Waits for scheduled mutations that are due now, but not for actions or cron jobs."""
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


@dataclass(frozen=True, slots=True)
class OwnRow:
    """The hook of a scheduled mutation: its row, which it sees in progress, and which succeeds with it."""

    key: ScheduledJob
    now: Clock

    def begin(self, transaction: Transaction, request_id: str) -> MutationOutcome | None:
        if is_paused(transaction) or not begin_job(transaction, self.key, request_id):
            return MutationOutcome("null", None, request_id)
        return None

    def finish(self, transaction: Transaction, finished: Finished) -> None:
        succeed_job(transaction, self.key, self.now())


class JobRuns:
    def __init__(self, functions: FunctionRunner, now: Clock) -> None:
        self._functions = functions
        self._host = functions.host
        self._now = now

    def is_mutation(self, key: RowKey) -> bool:
        job = read_job(self._host.database.begin(), ScheduledJob(key.id, key.namespace))
        target = find_target(self._host.application, job.path) if job else None
        return target is not None and target.function.udf_type == "Mutation"

    async def run(self, planned: Planned) -> None:
        job = read_job(self._host.database.begin(), ScheduledJob(planned.key.id, planned.key.namespace))
        if job is None:
            return
        call = _call(job)
        target = find_target(self._host.application, job.path)
        # What does not exist is refused like any call of it.
        udf_type = "Mutation" if target is None else target.function.udf_type
        if job.state == "inProgress":
            await self._give_up(job, call, udf_type, TRANSIENT_ERROR)
        elif udf_type == "Mutation":
            await self._run_mutation(job, call)
        elif udf_type == "Action":
            await self._run_action(job, call)
        else:
            await self._give_up(job, call, udf_type, _unsupported(job, udf_type))

    async def _run_mutation(self, job: JobRow, call: Call) -> None:
        try:
            outcome = await self._functions.mutation(call, hook=OwnRow(job.key, self._now), max_retries=None)
        except BackendError:
            logger.exception("scheduled mutation %s could not be run", job.path.canonical)
            await self._postpone(job)
            return
        if outcome.failure is not None:
            await self._end(job, outcome.failure.message)

    async def _run_action(self, job: JobRow, call: Call) -> None:
        if not await self._write(job, lambda transaction: _claim(transaction, job, call.request_id)):
            return
        try:
            outcome = await self._functions.action(call)
        except BackendError:
            logger.exception("scheduled action %s could not be run", job.path.canonical)
            await self._give_up(job, call, "Action", TRANSIENT_ERROR)
            return
        await self._end(job, outcome.failure.message if outcome.failure else None)

    async def _give_up(self, job: JobRow, call: Call, udf_type: UdfType, error: str) -> None:
        """A failure that no execution has reported."""
        record_failure(self._host.log, call, udf_type, error)
        await self._end(job, error)

    async def _end(self, job: JobRow, error: str | None) -> None:
        """A job that has been canceled or deleted since stays so."""
        state: dict[str, Value] = SUCCESS if error is None else {"type": "failed", "error": error}
        await self._write(job, lambda transaction: end_job(transaction, job.key, state, self._now()))

    async def _postpone(self, job: JobRow) -> None:
        """After a failure of our own."""
        seconds = backoff_seconds(job.system_errors, FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS)
        until = self._now() + round(seconds * 1e9)
        await self._write(job, lambda transaction: postpone_job(transaction, job, until))

    async def _write(self, job: JobRow, work: Callable[[Transaction], T]) -> T:
        return await self._functions.write(job.path.stripped, work)


def _call(job: JobRow) -> Call:
    return Call(
        job.path,
        job.args,
        caller="Scheduler",
        request_id=secrets.token_hex(8),
        allow_internal=True,
        scheduled_job=job.key,
    )


def _claim(transaction: Transaction, job: JobRow, request_id: str) -> bool:
    """Whether the action may run; if so, it is marked as running."""
    return not is_paused(transaction) and begin_job(transaction, job.key, request_id)


def _unsupported(job: JobRow, udf_type: UdfType) -> str:
    return (
        f'Unsupported function type. "{job.path.function}" in module "{job.path.module}" is defined as a {udf_type}.\n'
        "Only Mutation and Action can be scheduled."
    )


class Retention:
    def __init__(self, functions: FunctionRunner, now: Clock) -> None:
        self._functions = functions
        self._now = now

    async def loop(self) -> None:
        while True:
            try:
                await self.collect()
            except BackendError:
                logger.exception("finished jobs could not be deleted")
            await asyncio.sleep(CHECK_EVERY_SECONDS)

    async def collect(self) -> None:
        """Deletes jobs that were over a week ago."""
        if self._outdated(self._functions.host.database.begin()):
            await self._functions.write(SOURCE, self._delete)

    def _delete(self, transaction: Transaction) -> None:
        for key in self._outdated(transaction):
            delete_job(transaction, key)

    def _outdated(self, transaction: Transaction) -> list[ScheduledJob]:
        before = self._now() - RETENTION_NS
        return [
            key
            for namespace in namespaces(self._functions.host.application)
            for key in jobs_over_before(transaction, namespace, before, MAX_AT_ONCE)
        ]
