"""One call of one function: look-up, checks, transaction, syscalls, retries, result, logs."""

from convex_evals.backend.functions.calls import (
    Call,
    CallFailure,
    CallOutcome,
    Finished,
    MutationOutcome,
    QueryOutcome,
    ScheduledJob,
    SessionRequest,
    Tracer,
)
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.http_actions import (
    ROUTABLE_METHODS,
    HttpActionRequest,
    HttpActionResponse,
    HttpActionRunner,
)
from convex_evals.backend.functions.inline_queries import InlineQueries, Sdk
from convex_evals.backend.functions.jobs import SCHEDULED_JOBS, cancel_job, check_job_id
from convex_evals.backend.functions.records import TRANSIENT_ERROR, record_failure
from convex_evals.backend.functions.runner import FunctionRunner
from convex_evals.backend.functions.system_calls import SystemCall
from convex_evals.backend.functions.targets import find_target, parse_path

__all__ = [
    "ROUTABLE_METHODS",
    "SCHEDULED_JOBS",
    "TRANSIENT_ERROR",
    "Call",
    "CallFailure",
    "CallOutcome",
    "Finished",
    "FunctionRunner",
    "Host",
    "HttpActionRequest",
    "HttpActionResponse",
    "HttpActionRunner",
    "InlineQueries",
    "MutationOutcome",
    "QueryOutcome",
    "ScheduledJob",
    "Sdk",
    "SessionRequest",
    "SystemCall",
    "Tracer",
    "cancel_job",
    "check_job_id",
    "find_target",
    "parse_path",
    "record_failure",
]
