"""Calls and how they end, as the HTTP API, the sync protocol, the scheduler and other functions see them."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.identity import ANONYMOUS, Identity
from convex_evals.backend.limits import MAX_ERROR_BYTES
from convex_evals.backend.runtime import Failure, LogLine

if TYPE_CHECKING:
    from convex_evals.backend.database import ReadSet, Transaction

Caller = Literal["SyncWorker", "HttpApi", "Tester", "HttpEndpoint", "Cron", "Scheduler", "Action"]


def indexes_read(transaction: "Transaction") -> tuple[str, ...]:
    """The names of the indexes that user code has read."""
    return tuple(sorted(set(_indexes(transaction))))


def _indexes(transaction: "Transaction") -> Iterator[str]:
    for storage in transaction.read_set.user:
        namespace, number, _ = storage.split("/", 2)
        catalog = transaction.catalog(namespace)
        table = catalog.tables.get(catalog.table_names.get(int(number), ""))
        for index in table.indexes if table else ():
            if index.storage == storage:
                yield f"{index.table}.{index.name}"


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A row of `_scheduled_jobs`, in the namespace of the component that scheduled it."""

    id: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    path: FunctionPath
    args: object  # parsed JSON as it came: a list of arguments, or a bare object
    identity: Identity = ANONYMOUS
    caller: Caller = "HttpApi"
    request_id: str = ""  # 16 hex characters; generated when empty
    allow_internal: bool = False  # scheduler, crons and nested calls may run anything
    scheduled_job: ScheduledJob | None = None  # set for a scheduled function and everything it calls
    ip: str | None = None
    user_agent: str | None = None
    parent_execution_id: str | None = None  # the action that makes this call


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """A mutation sent over a socket: recorded with its commit, so that sending it again does not run it again."""

    session_id: str
    request_id: int


@dataclass(frozen=True, slots=True)
class CallFailure:
    message: str  # developer text without the "[Request ID: …] Server Error" line
    data: str | None = None  # Convex JSON text, only for ConvexErrors
    redacted: bool = False  # the caller may not see the message

    def text(self, request_id: str) -> str:
        first = f"[Request ID: {request_id}] Server Error"
        return first if self.redacted else f"{first}\n{self.message}"


@dataclass(slots=True)
class CallOutcome:
    """Exactly one of `value` (canonical Convex JSON text) and `failure` is set."""

    value: str | None
    failure: CallFailure | None
    request_id: str
    log_lines: list[LogLine] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        return self.failure is None

    @property
    def log_texts(self) -> list[str]:
        return [line.text for line in self.log_lines]


@dataclass(slots=True)
class QueryOutcome(CallOutcome):
    ts: int = 0  # the snapshot it was computed at
    read_set: "ReadSet | None" = None
    journal: str | None = None
    identity_read: bool = False


@dataclass(slots=True)
class MutationOutcome(CallOutcome):
    ts: int | None = None  # commit timestamp on success


@dataclass(frozen=True, slots=True)
class Returned:
    """A checked return value: canonical JSON text, and its size in bytes."""

    text: str
    size: int


@dataclass(slots=True)
class Finished:
    """Exactly one of `returned` and `failure` is set."""

    returned: Returned | None
    failure: CallFailure | None
    log_lines: list[LogLine] = field(default_factory=list)
    user_ms: float = 0.0
    catchable: bool = True  # False: not even the calling function may catch it

    @classmethod
    def failed(cls, error: DeveloperError, log_lines: Sequence[LogLine] = (), user_ms: float = 0.0) -> "Finished":
        return cls(None, failure_of(error), list(log_lines), user_ms)


def failure_of(error: DeveloperError) -> CallFailure:
    """The failure of a call that was rejected before or after its code ran: no `Uncaught`, no frames."""
    return CallFailure(_cut(f"{error.message}\n"), error.data if isinstance(error, ConvexError) else None)


def uncaught(failure: Failure) -> CallFailure:
    """A text without frames ends its line all the same."""
    message = failure.message if failure.message.endswith("\n") else f"{failure.message}\n"
    return CallFailure(_cut(message), failure.data)


def _cut(message: str) -> str:
    data = message.encode()
    return message if len(data) <= MAX_ERROR_BYTES else data[:MAX_ERROR_BYTES].decode(errors="ignore")


def warning(text: str) -> LogLine:
    """A line that the deployment adds to a function's log."""
    return LogLine("WARN", (text,), time.time() * 1000)
