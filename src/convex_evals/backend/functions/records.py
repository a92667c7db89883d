"""Entries of the function log, made from what ran."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from convex_evals.backend.deployed import UdfType
from convex_evals.backend.errors import Conflict
from convex_evals.backend.functions.calls import Call, Finished, QueryOutcome, indexes_read
from convex_evals.backend.functions.host import Attempt
from convex_evals.backend.functions.targets import Target
from convex_evals.backend.identity import ActingAdmin, Admin, Identity, User
from convex_evals.backend.logs import Completion, FunctionLog, OccInfo, Progress, UsageStats
from convex_evals.backend.runtime import LogLine

TRANSIENT_ERROR: Final = "Transient error while executing action"


def new_execution_id() -> str:
    return secrets.token_hex(8)


def record_attempt(
    attempt: Attempt, finished: Finished, *, conflict: OccInfo | None = None, will_retry: bool = False
) -> None:
    """The end of a query or mutation, or of an attempt at one."""
    attempt.host.log.append(
        replace(
            _completion(attempt.call, attempt.kind, _error(finished)),
            execution_seconds=attempt.seconds,
            user_seconds=attempt.user_ms / 1000,
            log_lines=finished.log_lines,
            return_bytes=finished.returned.size if finished.returned else None,
            occ_info=conflict,
            will_retry=will_retry,
            usage=_usage(attempt),
        )
    )


def record_cached(log: FunctionLog, call: Call, outcome: QueryOutcome) -> None:
    ended = _completion(call, "Query", _error(outcome))
    log.append(replace(ended, log_lines=outcome.log_lines, cached=True, return_bytes=len(outcome.value or "")))


def record_action(
    log: FunctionLog, call: Call, target: Target | None, execution_id: str, finished: Finished, seconds: float
) -> None:
    """The end of an action. Its lines were reported as it wrote them."""
    log.append(
        replace(
            _completion(call, "Action", _error(finished)),
            execution_id=execution_id,
            environment=target.environment if target else "isolate",
            execution_seconds=seconds,
            user_seconds=finished.user_ms / 1000,
            return_bytes=finished.returned.size if finished.returned else None,
        )
    )


def record_failure(log: FunctionLog, call: Call, udf_type: UdfType, error: str) -> None:
    """The end of a call that never ran, or was lost while it ran."""
    log.append(_completion(call, udf_type, error))


def _completion(call: Call, udf_type: UdfType, error: str | None) -> Completion:
    """What the call itself says about its end."""
    return Completion(
        udf_type=udf_type,
        identifier=call.path.stripped,
        component_path=call.path.component or None,
        request_id=call.request_id,
        execution_id=new_execution_id(),
        caller=call.caller,
        identity_type=identity_type(call.identity),
        environment="isolate",
        execution_seconds=0.0,
        error=error,
        parent_execution_id=call.parent_execution_id,
    )


def _error(ended: Finished | QueryOutcome) -> str | None:
    return ended.failure.message if ended.failure else None


def _usage(attempt: Attempt) -> UsageStats:
    usage = attempt.transaction.usage
    return UsageStats(
        database_read_bytes=usage.bytes_read,
        database_write_bytes=usage.bytes_written,
        database_read_documents=usage.documents_read,
        database_write_documents=usage.documents_written,
        database_queries=usage.database_queries,
        database_read_indexes=indexes_read(attempt.transaction),
        round_trips=attempt.round_trips,
    )


def record_progress(
    log: FunctionLog, call: Call, udf_type: UdfType, execution_id: str, lines: Sequence[LogLine]
) -> None:
    component = call.path.component or None
    log.append(Progress(udf_type, call.path.stripped, component, call.request_id, execution_id, lines))


def occ_info(conflict: Conflict, retry: int) -> OccInfo:
    return OccInfo(conflict.table, conflict.document_id, conflict.source, retry)


def identity_type(identity: Identity) -> str:
    match identity:
        case Admin():
            return "instance_admin"
        case ActingAdmin():
            return "member_acting_user"
        case User():
            return "user"
        case _:
            return "unknown"
