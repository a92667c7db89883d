"""Scheduled functions as rows of `_scheduled_jobs`: planning, cancelling, beginning and ending one are plain writes.

Running them is the scheduler's business; it watches the same rows.
"""

from dataclasses import dataclass
from typing import Final, Literal, cast

import orjson

from convex_evals.backend.database import Bound, Transaction
from convex_evals.backend.deployed import Application, FunctionPath
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.calls import ScheduledJob
from convex_evals.backend.functions.targets import is_callable
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS, DocumentId
from convex_evals.backend.limits import MAX_SCHEDULE_SECONDS, scheduled_too_far
from convex_evals.backend.values import Value, decode, dumps, size_of

SCHEDULED_JOBS: Final = "_scheduled_jobs"
NANOSECONDS: Final = 1_000_000_000
SUCCESS: Final[dict[str, Value]] = {"type": "success"}

State = Literal["pending", "inProgress", "success", "failed", "canceled"]


@dataclass(frozen=True, slots=True)
class Job:
    """What to run, and when: `seconds` since the epoch."""

    path: FunctionPath
    args: list[Value]
    seconds: float

    @property
    def args_size(self) -> int:
        return size_of(self.args)


def plan(application: Application | None, path: FunctionPath, args: object, seconds: float, now_seconds: float) -> Job:
    """A job that may be scheduled. Type and argument validators are checked only when it runs."""
    _check_time(seconds, now_seconds)
    _check_exists(application, path)
    return Job(path, [decode(args)], seconds)


def schedule(transaction: Transaction, namespace: str, job: Job, parent: ScheduledJob | None = None) -> str:
    """Writes the row in the namespace of the component that schedules, and counts it. Returns the id of the row.

    `parent` is the job that schedules this one: what a cancelled job schedules is cancelled from the start.
    """
    transaction.count_scheduled(job.args_size)
    ts = round(job.seconds * 1_000_000) * 1000  # seconds as a float are not finer; milliseconds come back exactly
    canceled = parent is not None and job_state(transaction, parent) == "canceled"
    now = round(transaction.started_ms * 1_000_000)
    row: dict[str, Value] = {
        "component": job.path.component,
        "udfPath": job.path.canonical,
        "udfArgs": dumps(job.args).encode(),
        "argsId": None,
        "state": {"type": "canceled"} if canceled else {"type": "pending"},
        "nextTs": None if canceled else ts,
        "completedTs": now if canceled else None,
        "originalScheduledTs": now if canceled else ts,
        "attempts": {"systemErrors": 0, "occErrors": 0},
    }
    return transaction.system.insert(namespace, SCHEDULED_JOBS, row).id


def cancel_job(transaction: Transaction, namespace: str, job_id: str) -> None:
    """Jobs that are over, or gone, stay as they are."""
    end_job(
        transaction, ScheduledJob(job_id, namespace), {"type": "canceled"}, round(transaction.started_ms * 1_000_000)
    )


def cancel_jobs(
    transaction: Transaction,
    namespace: str,
    path: str | None = None,
    *,
    first: int = 0,
    before: int | None = None,
) -> None:
    """All that are planned in a component, or those of one function, or those due from `first` and `before`, in ns."""
    lower = Bound(first, included=True)
    upper = None if before is None else Bound(before, included=False)
    for row in transaction.system.scan(namespace, SCHEDULED_JOBS, "by_next_ts", lower=lower, upper=upper):
        if path in (None, row.value["udfPath"]):
            cancel_job(transaction, namespace, row.id)


def delete_jobs(transaction: Transaction, namespace: str) -> None:
    for row in transaction.system.scan(namespace, SCHEDULED_JOBS):
        transaction.system.delete(namespace, SCHEDULED_JOBS, row.id)


def delete_job(transaction: Transaction, key: ScheduledJob) -> None:
    transaction.system.delete(key.namespace, SCHEDULED_JOBS, key.id)


def jobs_over_before(transaction: Transaction, namespace: str, ts: int, limit: int) -> list[ScheduledJob]:
    """The first ones of a component that ended before this time, in ns."""
    lower, upper = Bound(0, included=True), Bound(ts, included=False)  # those that are not over have no time
    rows = transaction.system.scan(namespace, SCHEDULED_JOBS, "by_completed_ts", lower=lower, upper=upper, limit=limit)
    return [ScheduledJob(row.id, namespace) for row in rows]


@dataclass(frozen=True, slots=True)
class JobRow:
    key: ScheduledJob
    path: FunctionPath
    args: object  # parsed JSON
    state: State
    attempts: dict[str, Value]

    @property
    def system_errors(self) -> int:
        return cast(int, self.attempts["systemErrors"])


def read_job(transaction: Transaction, key: ScheduledJob) -> JobRow | None:
    row = transaction.system.get(key.namespace, SCHEDULED_JOBS, key.id)
    if row is None:
        return None
    value = row.value
    return JobRow(
        key=key,
        path=FunctionPath.parse(str(value["udfPath"]), str(value["component"])),
        args=orjson.loads(cast(bytes, value["udfArgs"])),
        state=_state_of(value),
        attempts=cast("dict[str, Value]", value["attempts"]),
    )


def job_state(transaction: Transaction, key: ScheduledJob) -> State | None:
    row = transaction.system.get(key.namespace, SCHEDULED_JOBS, key.id)
    return None if row is None else _state_of(row.value)


def begin_job(transaction: Transaction, key: ScheduledJob, request_id: str) -> bool:
    """Whether it was pending; if so, it is marked as running."""
    if job_state(transaction, key) != "pending":
        return False
    _patch(transaction, key, {"state": {"type": "inProgress", "requestId": request_id}})
    return True


def end_job(transaction: Transaction, key: ScheduledJob, state: dict[str, Value], now: int) -> None:
    """Jobs that are over, or gone, stay as they are."""
    if job_state(transaction, key) in ("pending", "inProgress"):
        _end(transaction, key, state, now)


def succeed_job(transaction: Transaction, key: ScheduledJob, now: int) -> None:
    """In the transaction of the job itself, whatever that did to its row."""
    _end(transaction, key, SUCCESS, now)


def postpone_job(transaction: Transaction, job: JobRow, until: int) -> None:
    """After a failure of our own, which is counted."""
    if job_state(transaction, job.key) == "pending":
        attempts: dict[str, Value] = {**job.attempts, "systemErrors": job.system_errors + 1}
        _patch(transaction, job.key, {"nextTs": until, "attempts": attempts})


def _end(transaction: Transaction, key: ScheduledJob, state: dict[str, Value], now: int) -> None:
    _patch(transaction, key, {"state": state, "nextTs": None, "completedTs": now})


def _patch(transaction: Transaction, key: ScheduledJob, fields: dict[str, Value]) -> None:
    transaction.system.patch(key.namespace, SCHEDULED_JOBS, key.id, fields)


def check_job_id(text: str) -> str:
    """Raises DeveloperError for anything but the id of a scheduled function."""
    try:
        number = DocumentId.decode(text).table_number
    except DeveloperError as error:
        raise DeveloperError(f"Invalid argument `id` for `db.cancel_job`: {error.message}") from error
    if number != SYSTEM_TABLE_NUMBERS[SCHEDULED_JOBS]:
        raise DeveloperError("Invalid scheduled function ID. The ID must be an ID on the '_scheduled_functions' table.")
    return text


def _check_time(seconds: float, now_seconds: float) -> None:
    if not 0 <= seconds < 2**63 / NANOSECONDS:
        raise DeveloperError(f"Invalid arguments for `ts`: {seconds} is not a time since 1970")
    if abs(seconds - now_seconds) > MAX_SCHEDULE_SECONDS:
        raise scheduled_too_far(seconds, now_seconds)


def _check_exists(application: Application | None, path: FunctionPath) -> None:
    definition = application.definition_of(path.component) if application else None
    if definition is None or path.module not in definition.modules or not is_callable(path):
        raise DeveloperError(f"Attempted to schedule function at nonexistent path: {path.module}{path.in_component}")
    analysis = definition.analysis.get(path.module)
    if analysis is None or analysis.function(path.function) is None:
        raise DeveloperError(
            f"Attempted to schedule function, but no exported function {path.function} found in the file: "
            f"{path.module}{path.in_component}. Did you forget to export it?"
        )


def _state_of(row: dict[str, Value]) -> State:
    return cast(State, cast("dict[str, Value]", row["state"])["type"])
