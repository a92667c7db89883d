"""Running cron jobs: each occurrence of a mutation exactly once, of an action at most once.

How a run ended and when the next one is due are written together: for a mutation that succeeds in its own transaction,
otherwise right afterwards. An occurrence found `inProgress` that nobody runs is an action cut short by a stop or crash.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from convex_evals.backend.crons import next_run, skipped_runs
from convex_evals.backend.database import Transaction
from convex_evals.backend.deployed import Application, FunctionPath
from convex_evals.backend.errors import BackendError
from convex_evals.backend.functions.outcomes import Finished
from convex_evals.backend.functions.runner import FunctionRunner
from convex_evals.backend.functions.state import is_paused
from convex_evals.backend.functions.targets import find
from convex_evals.backend.functions.types import Call, CallOutcome, MutationOutcome
from convex_evals.backend.scheduler import cron_logs, cron_rows
from convex_evals.backend.scheduler.backoff import backoff_seconds
from convex_evals.backend.scheduler.cron_logs import Report
from convex_evals.backend.scheduler.cron_rows import CronRun
from convex_evals.backend.scheduler.dispatcher import Clock
from convex_evals.backend.scheduler.entries import TRANSIENT_ERROR, record_failure
from convex_evals.backend.scheduler.planned import Planned

logger = logging.getLogger(__name__)

FIRST_BACKOFF_SECONDS: Final = 0.5
LONGEST_BACKOFF_SECONDS: Final = 15.0

T = TypeVar("T")


@dataclass(slots=True)
class Occurrence:
    """The companion of a cron's mutation: its log entry and the plan of the next run."""

    run: CronRun
    now: Clock
    started: float = field(default_factory=time.perf_counter)

    def begin(self, transaction: Transaction, request_id: str) -> MutationOutcome | None:
        self.started = time.perf_counter()
        if is_paused(transaction) or not cron_rows.is_planned(transaction, self.run):
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
        run = cron_rows.read(self._host.database.begin(), planned.key)
        if run is None:
            return
        call = _call(run, self._host.application)
        target = find(self._host.application, call.path)
        if run.in_progress:
            await self._lost(run, call)
        elif target is not None and target.function.udf_type == "Action":
            await self._run_action(run, call)
        else:
            await self._run_mutation(run, call)

    async def _run_mutation(self, run: CronRun, call: Call) -> None:
        """Whatever is no mutation is refused like any call of it as one; pushes do not let it come to that."""
        failures = 0
        while True:
            occurrence = Occurrence(run, self._now)
            try:
                outcome = await self._functions.mutation(call, companion=occurrence, most_retries=None)
                break
            except BackendError:
                logger.exception("cron job %s could not be run", run.name)
                await asyncio.sleep(backoff_seconds(failures, FIRST_BACKOFF_SECONDS, LONGEST_BACKOFF_SECONDS))
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
    current = cron_rows.read(transaction, run.key)
    if current is None:
        return
    cron_logs.insert(transaction, run, report)
    if current.due != run.due:  # planned anew meanwhile
        return
    following = next_run(current.schedule, current.name, run.due, now)
    skipped = skipped_runs(current.schedule, run.due, following)
    if skipped:
        first_skipped = run.due + (following - run.due) // (skipped + 1)
        cron_logs.insert(transaction, replace(current, due=first_skipped), Report.skipped(skipped, current.job_id))
    cron_rows.plan(transaction, run, following)


def _claim(transaction: Transaction, run: CronRun) -> bool:
    """Whether the action may run; if so, nobody else will run it."""
    if is_paused(transaction) or not cron_rows.is_planned(transaction, run):
        return False
    cron_rows.begin(transaction, run)
    return True


def _call(run: CronRun, application: Application | None) -> Call:
    path = FunctionPath.parse(run.udf_path, _component(run.key.namespace, application))
    return Call(path, run.args, caller="Cron", request_id=secrets.token_hex(8), allow_internal=True)


def _component(namespace: str, application: Application | None) -> str:
    """The path of the component whose rows are in `namespace`."""
    instances = application.instances.values() if application else ()
    return next((instance.path for instance in instances if instance.id == namespace), "")


def _report(outcome: CallOutcome, seconds: float) -> Report:
    if outcome.failure is not None:
        return Report.failure(outcome.failure.message, outcome.log_lines, seconds)
    return Report.success(outcome.value or "null", outcome.log_lines, seconds)
