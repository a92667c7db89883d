"""Running scheduled functions: mutations exactly once, actions at most once.

A mutation's row becomes `success` in the mutation's own transaction, so either both happen or neither does, and what
was interrupted simply runs again. An action's row is `inProgress` before the action starts; a row found `inProgress`
that is not running is what a stop or a crash left behind, and has failed. Finished jobs are kept for a week.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, cast

import orjson

from convex_evals.backend.database import Bound, Document, Transaction
from convex_evals.backend.deployed import FunctionPath, UdfType
from convex_evals.backend.environment import is_paused
from convex_evals.backend.errors import BackendError
from convex_evals.backend.functions import (
    TRANSIENT_ERROR,
    Call,
    Finished,
    FunctionRunner,
    MutationOutcome,
    ScheduledJob,
    find_target,
    record_failure,
)
from convex_evals.backend.scheduler.dispatcher import ANY_TIME, Clock, Planned, RowKey, backoff_seconds, namespaces
from convex_evals.backend.values import Value

logger = logging.getLogger(__name__)

TABLE: Final = "_scheduled_jobs"

State = Literal["pending", "inProgress", "success", "failed", "canceled"]

FIRST_BACKOFF_SECONDS: Final = 0.5
MAX_BACKOFF_SECONDS: Final = 7200.0

T = TypeVar("T")

RETENTION_NS: Final = 7 * 86_400 * 10**9
CHECK_EVERY_SECONDS: Final = 10.0
MAX_AT_ONCE: Final = 1000
SOURCE: Final = "_scheduler"


@dataclass(frozen=True, slots=True)
class JobRow:
    key: RowKey
    path: FunctionPath
    args: object  # parsed JSON
    state: State
    attempts: dict[str, Value]

    @property
    def system_errors(self) -> int:
        return cast(int, self.attempts["systemErrors"])


def read_job(transaction: Transaction, key: RowKey) -> JobRow | None:
    row = transaction.system.get(key.namespace, TABLE, key.id)
    if row is None:
        return None
    value = row.value
    return JobRow(
        key=key,
        path=FunctionPath.parse(str(value["udfPath"]), str(value["component"])),
        args=orjson.loads(cast(bytes, value["udfArgs"])),
        state=_state(row),
        attempts=cast("dict[str, Value]", value["attempts"]),
    )


def state_of(transaction: Transaction, key: RowKey) -> State | None:
    row = transaction.system.get(key.namespace, TABLE, key.id)
    return None if row is None else _state(row)


def begin_job(transaction: Transaction, key: RowKey, request_id: str) -> None:
    _patch(transaction, key, {"state": {"type": "inProgress", "requestId": request_id}})


def succeed(transaction: Transaction, key: RowKey, now: int) -> None:
    _end(transaction, key, {"type": "success"}, now)


def fail(transaction: Transaction, key: RowKey, error: str, now: int) -> None:
    _end(transaction, key, {"type": "failed", "error": error}, now)


def _end(transaction: Transaction, key: RowKey, state: dict[str, Value], now: int) -> None:
    _patch(transaction, key, {"state": state, "nextTs": None, "completedTs": now})


def _patch(transaction: Transaction, key: RowKey, fields: dict[str, Value]) -> None:
    transaction.system.patch(key.namespace, TABLE, key.id, fields)


def _state(row: Document) -> State:
    return cast(State, cast("dict[str, Value]", row.value["state"])["type"])


@dataclass(frozen=True, slots=True)
class OwnRow:
    """The hook of a scheduled mutation: its row, which it sees in progress, and which succeeds with it."""

    key: RowKey
    now: Clock

    def begin(self, transaction: Transaction, request_id: str) -> MutationOutcome | None:
        if is_paused(transaction) or state_of(transaction, self.key) != "pending":
            return MutationOutcome("null", None, request_id)
        begin_job(transaction, self.key, request_id)
        return None

    def finish(self, transaction: Transaction, finished: Finished) -> None:
        succeed(transaction, self.key, self.now())


class JobRuns:
    def __init__(self, functions: FunctionRunner, now: Clock) -> None:
        self._functions = functions
        self._host = functions.host
        self._now = now

    async def run(self, planned: Planned) -> None:
        job = read_job(self._host.database.begin(), planned.key)
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

        def end(transaction: Transaction) -> None:
            if state_of(transaction, job.key) not in ("pending", "inProgress"):
                return
            if error is None:
                succeed(transaction, job.key, self._now())
            else:
                fail(transaction, job.key, error, self._now())

        await self._write(job, end)

    async def _postpone(self, job: JobRow) -> None:
        """After a failure of our own."""
        seconds = backoff_seconds(job.system_errors, FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS)
        until = self._now() + round(seconds * 1e9)

        def postpone(transaction: Transaction) -> None:
            if state_of(transaction, job.key) == "pending":
                attempts: dict[str, Value] = {**job.attempts, "systemErrors": job.system_errors + 1}
                _patch(transaction, job.key, {"nextTs": until, "attempts": attempts})

        await self._write(job, postpone)

    async def _write(self, job: JobRow, work: Callable[[Transaction], T]) -> T:
        return await self._functions.write(job.path.stripped, work)


def _call(job: JobRow) -> Call:
    return Call(
        job.path,
        job.args,
        caller="Scheduler",
        request_id=secrets.token_hex(8),
        allow_internal=True,
        scheduled_job=ScheduledJob(job.key.id, job.key.namespace),
    )


def _claim(transaction: Transaction, job: JobRow, request_id: str) -> bool:
    """Whether the action may run; if so, it is marked as running."""
    if is_paused(transaction) or state_of(transaction, job.key) != "pending":
        return False
    begin_job(transaction, job.key, request_id)
    return True


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
            transaction.system.delete(key.namespace, TABLE, key.id)

    def _outdated(self, transaction: Transaction) -> list[RowKey]:
        before = Bound(self._now() - RETENTION_NS, included=False)
        return [
            RowKey(namespace, row.id)
            for namespace in namespaces(self._functions.host.application)
            for row in transaction.system.scan(
                namespace, TABLE, "by_completed_ts", lower=ANY_TIME, upper=before, limit=MAX_AT_ONCE
            )
        ]
