"""Calls and their outcomes, as the HTTP API, the sync protocol and the scheduler see them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.functions.tracing import Tracer
from convex_evals.backend.identity import ANONYMOUS, Identity
from convex_evals.backend.runtime.types import LogLine

if TYPE_CHECKING:
    from convex_evals.backend.database import ReadSet

Caller = Literal["SyncWorker", "HttpApi", "Tester", "HttpEndpoint", "Cron", "Scheduler", "Action"]


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
    request_id: str = ""  # 16 hex characters; drawn when empty
    allow_internal: bool = False  # scheduler, crons and nested calls may run anything
    scheduled_job: ScheduledJob | None = None  # set for a scheduled function and everything it calls
    ip: str | None = None
    user_agent: str | None = None
    parent_execution_id: str | None = None  # the action that makes this call
    tracer: Tracer | None = field(default=None, compare=False)  # told about every transaction this call causes


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
