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
)
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.http_actions import (
    ROUTABLE_METHODS,
    HttpActionRequest,
    HttpActionResponse,
    HttpActionRunner,
)
from convex_evals.backend.functions.inline_queries import InlineQueries, Sdk
from convex_evals.backend.functions.jobs import (
    SCHEDULED_JOBS,
    SUCCESS,
    JobRow,
    begin_job,
    cancel_job,
    cancel_jobs,
    check_job_id,
    delete_job,
    delete_jobs,
    end_job,
    jobs_over_before,
    postpone_job,
    read_job,
    succeed_job,
)
from convex_evals.backend.functions.records import TRANSIENT_ERROR, record_failure
from convex_evals.backend.functions.runner import FunctionRunner
from convex_evals.backend.functions.system_calls import SystemCall
from convex_evals.backend.functions.targets import find_target, parse_path
from convex_evals.backend.functions.turns import Gate, Rendezvous

__all__ = [
    "ROUTABLE_METHODS",
    "SCHEDULED_JOBS",
    "SUCCESS",
    "TRANSIENT_ERROR",
    "Call",
    "CallFailure",
    "CallOutcome",
    "Finished",
    "FunctionRunner",
    "Gate",
    "Host",
    "HttpActionRequest",
    "HttpActionResponse",
    "HttpActionRunner",
    "InlineQueries",
    "JobRow",
    "MutationOutcome",
    "QueryOutcome",
    "Rendezvous",
    "ScheduledJob",
    "Sdk",
    "SessionRequest",
    "SystemCall",
    "begin_job",
    "cancel_job",
    "cancel_jobs",
    "check_job_id",
    "delete_job",
    "delete_jobs",
    "end_job",
    "find_target",
    "jobs_over_before",
    "parse_path",
    "postpone_job",
    "read_job",
    "record_failure",
    "succeed_job",
]
