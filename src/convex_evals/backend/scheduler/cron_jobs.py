"""Running cron jobs: each occurrence of a mutation exactly once, of an action at most once.

How a run ended and when the next one is due are written together: for a mutation that succeeds in its own transaction,
otherwise right afterwards. An occurrence found `inProgress` that is not running was cut short by a stop or crash.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar, cast

import orjson

from convex_evals.backend.crons import next_run, skipped_runs
from convex_evals.backend.database import Transaction
from convex_evals.backend.deployed import Application, FunctionPath
from convex_evals.backend.environment import is_paused
from convex_evals.backend.errors import BackendError
from convex_evals.backend.functions import (
    TRANSIENT_ERROR,
    Call,
    CallOutcome,
    Finished,
    FunctionRunner,
    MutationOutcome,
    find_target,
    record_failure,
)
from convex_evals.backend.runtime import LogLine
from convex_evals.backend.scheduler.dispatcher import Clock, Planned, RowKey, backoff_seconds
from convex_evals.backend.values import Value

logger = logging.getLogger(__name__)

JOBS: Final = "_cron_jobs"
NEXT_RUNS: Final = "_cron_next_run"
LOGS: Final = "_cron_job_logs"

KEPT_LOGS: Final = 5
MAX_TEXT_LENGTH: Final = 1000

FIRST_BACKOFF_SECONDS: Final = 0.5
MAX_BACKOFF_SECONDS: Final = 15.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CronRun:
    """One occurrence of a cron job. `key` is that of its row in `_cron_next_run`."""

    key: RowKey
    job_id: str
    name: str
    udf_path: str
    udf_args: bytes
    schedule: dict[str, object]
    due: int
    in_progress: bool

    @property
    def args(self) -> object:
        return orjson.loads(self.udf_args)


def read_run(transaction: Transaction, key: RowKey) -> CronRun | None:
    """The next run as it is planned now; None when the job was removed."""
    row = transaction.system.get(key.namespace, NEXT_RUNS, key.id)
    job = row and transaction.system.get(key.namespace, JOBS, str(row.value["cronJobId"]))
    if row is None or job is None:
        return None
    spec = cast("dict[str, Value]", job.value["cronSpec"])
    return CronRun(
        key=key,
        job_id=job.id,
        name=str(job.value["name"]),
        udf_path=str(spec["udfPath"]),
        udf_args=cast(bytes, spec["udfArgs"]),
        schedule=cast("dict[str, object]", spec["cronSchedule"]),
        due=cast(int, row.value["nextTs"]),
        in_progress=cast("dict[str, Value]", row.value["state"])["type"] == "inProgress",
    )


def is_planned(transaction: Transaction, run: CronRun) -> bool:
    """Whether the occurrence is still due as it was read, and not already running."""
    return not run.in_progress and read_run(transaction, run.key) == run


@dataclass(frozen=True, slots=True)
class Report:
    """How a run went. `lines` are texts, as clients would get them."""

    status: dict[str, Value]
    lines: Sequence[str] = ()
    seconds: float = 0.0

    @classmethod
    def success(cls, result: str, lines: Sequence[LogLine], seconds: float) -> "Report":
        """`result` is Convex JSON text."""
        fits = len(result) <= MAX_TEXT_LENGTH
        shown: dict[str, Value] = (
            {"type": "default", "value": result}
            if fits
            else {"type": "truncated", "truncated_log": result[:MAX_TEXT_LENGTH]}
        )
        return cls({"type": "success", "result": shown}, [line.text for line in lines], seconds)

    @classmethod
    def failure(cls, error: str, lines: Sequence[LogLine] = (), seconds: float = 0.0) -> "Report":
        return cls({"type": "err", "error": error}, [line.text for line in lines], seconds)

    @classmethod
    def skipped(cls, count: int, job_id: str) -> "Report":
        line = f"Skipping {count} run(s) of job {job_id} because multiple scheduled runs are in the past"
        return cls({"type": "canceled", "num_canceled": count}, [line])


def insert_log(transaction: Transaction, run: CronRun, report: Report) -> None:
    """Adds the newest entry, and removes the oldest when there are too many."""
    namespace, system = run.key.namespace, transaction.system
    system.insert(
        namespace,
        LOGS,
        {
            "name": run.name,
            "ts": run.due,
            "udfPath": run.udf_path,
            "udfArgs": run.udf_args,
            "status": report.status,
            "logLines": _truncated(report.lines),
            "executionTime": report.seconds,
        },
    )
    for row in system.scan(namespace, LOGS, "by_name_and_ts", [run.name], descending=True)[KEPT_LOGS:]:
        system.delete(namespace, LOGS, row.id)


def _truncated(lines: Sequence[str]) -> dict[str, Value]:
    kept: list[Value] = []
    room = MAX_TEXT_LENGTH
    for line in lines:
        if len(line) > room:
            return {"logLines": [*kept, line[:room]] if room else kept, "isTruncated": True}
        kept.append(line)
        room -= len(line)
    return {"logLines": kept, "isTruncated": False}


@dataclass(slots=True)
class Occurrence:
    """The hook of a cron's mutation: its log entry and the plan of the next run."""

    run: CronRun
    now: Clock
    started: float = field(default_factory=time.perf_counter)

    def begin(self, transaction: Transaction, request_id: str) -> MutationOutcome | None:
        self.started = time.perf_counter()
        if is_paused(transaction) or not is_planned(transaction, self.run):
            return MutationOutcome("null", None, request_id)
        return None

    def finish(self, transaction: Transaction, finished: Finished) -> None:
        assert finished.returned is not None
        complete(
            transaction, self.run, Report.success(finished.returned.text, finished.log_lines, self.seconds), self.now()
        )

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started


class CronRuns:
    def __init__(self, functions: FunctionRunner, now: Clock) -> None:
        self._functions = functions
        self._host = functions.host
        self._now = now

    async def run(self, planned: Planned) -> None:
        run = read_run(self._host.database.begin(), planned.key)
        if run is None:
            return
        call = _call(run, self._host.application)
        target = find_target(self._host.application, call.path)
        if run.in_progress:
            await self._lost(run, call)
        elif target is not None and target.function.udf_type == "Action":
            await self._run_action(run, call)
        else:
            await self._run_mutation(run, call)

    async def _run_mutation(self, run: CronRun, call: Call) -> None:
        """Anything but a mutation is refused like any call of it as one; pushes do not let it come to that."""
        failures = 0
        while True:
            occurrence = Occurrence(run, self._now)
            try:
                outcome = await self._functions.mutation(call, hook=occurrence, max_retries=None)
                break
            except BackendError:
                logger.exception("cron job %s could not be run", run.name)
                await asyncio.sleep(backoff_seconds(failures, FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS))
                failures += 1
        if outcome.failure is not None:
            await self._complete(run, _report(outcome, occurrence.seconds))

    async def _run_action(self, run: CronRun, call: Call) -> None:
        if not await self._write(run, lambda transaction: _claim(transaction, run)):
            return
        started = time.perf_counter()
        try:
            outcome = await self._functions.action(call)
        except BackendError:
            logger.exception("cron job %s could not be run", run.name)
            await self._lost(run, call)
            return
        await self._complete(run, _report(outcome, time.perf_counter() - started))

    async def _lost(self, run: CronRun, call: Call) -> None:
        record_failure(self._host.log, call, "Action", TRANSIENT_ERROR)
        await self._complete(run, Report.failure(TRANSIENT_ERROR))

    async def _complete(self, run: CronRun, report: Report) -> None:
        await self._write(run, lambda transaction: complete(transaction, run, report, self._now()))

    async def _write(self, run: CronRun, work: Callable[[Transaction], T]) -> T:
        return await self._functions.write(run.udf_path, work)


def complete(transaction: Transaction, run: CronRun, report: Report, now: int) -> None:
    """Logs the run and plans the next one, by the schedule that is in force now. Nothing, if the job was removed."""
    current = read_run(transaction, run.key)
    if current is None:
        return
    insert_log(transaction, run, report)
    if current.due != run.due:  # it has been rescheduled since
        return
    following = next_run(current.schedule, current.name, run.due, now)
    skipped = skipped_runs(current.schedule, run.due, following)
    if skipped:
        first_skipped = run.due + (following - run.due) // (skipped + 1)
        insert_log(transaction, replace(current, due=first_skipped), Report.skipped(skipped, current.job_id))
    planned: dict[str, Value] = {"state": {"type": "pending"}, "prevTs": run.due, "nextTs": following}
    transaction.system.patch(run.key.namespace, NEXT_RUNS, run.key.id, planned)


def _claim(transaction: Transaction, run: CronRun) -> bool:
    """Whether the action may run; if so, it is marked as running."""
    if is_paused(transaction) or not is_planned(transaction, run):
        return False
    transaction.system.patch(run.key.namespace, NEXT_RUNS, run.key.id, {"state": {"type": "inProgress"}})
    return True


def _call(run: CronRun, application: Application | None) -> Call:
    instances = application.instances.values() if application else ()
    component = next((instance.path for instance in instances if instance.id == run.key.namespace), "")
    path = FunctionPath.parse(run.udf_path, component)
    return Call(path, run.args, caller="Cron", request_id=secrets.token_hex(8), allow_internal=True)


def _report(outcome: CallOutcome, seconds: float) -> Report:
    if outcome.failure is not None:
        return Report.failure(outcome.failure.message, outcome.log_lines, seconds)
    return Report.success(outcome.value or "null", outcome.log_lines, seconds)
