"""Entries of the function log, made from what ran."""

import secrets
from collections.abc import Sequence
from typing import Final

from convex_evals.backend.deployed import UdfType
from convex_evals.backend.errors import Conflict
from convex_evals.backend.functions.attempt import Attempt
from convex_evals.backend.functions.calls import Call, Finished, QueryOutcome, indexes_read
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
    call, usage = attempt.call, attempt.transaction.usage
    if call.tracer is not None and not will_retry:
        call.tracer.add(call.path, attempt.kind, attempt.transaction)
    attempt.host.log.append(
        Completion(
            udf_type=attempt.kind,
            identifier=call.path.stripped,
            component_path=call.path.component or None,
            request_id=call.request_id,
            execution_id=new_execution_id(),
            caller=call.caller,
            identity_type=identity_type(call.identity),
            environment="isolate",
            execution_seconds=attempt.seconds,
            user_seconds=attempt.user_ms / 1000,
            log_lines=finished.log_lines,
            error=finished.failure.message if finished.failure else None,
            parent_execution_id=call.parent_execution_id,
            return_bytes=finished.returned.size if finished.returned else None,
            occ_info=conflict,
            will_retry=will_retry,
            usage=UsageStats(
                database_read_bytes=usage.bytes_read,
                database_write_bytes=usage.bytes_written,
                database_read_documents=usage.documents_read,
                database_write_documents=usage.documents_written,
                database_queries=usage.database_queries,
                database_read_indexes=indexes_read(attempt.transaction),
                round_trips=attempt.round_trips,
            ),
        )
    )


def record_cached(log: FunctionLog, call: Call, outcome: QueryOutcome) -> None:
    log.append(
        Completion(
            udf_type="Query",
            identifier=call.path.stripped,
            component_path=call.path.component or None,
            request_id=call.request_id,
            execution_id=new_execution_id(),
            caller=call.caller,
            identity_type=identity_type(call.identity),
            environment="isolate",
            execution_seconds=0.0,
            log_lines=outcome.log_lines,
            error=outcome.failure.message if outcome.failure else None,
            cached=True,
            parent_execution_id=call.parent_execution_id,
            return_bytes=len(outcome.value or ""),
        )
    )


def record_action(
    log: FunctionLog, call: Call, target: Target | None, execution_id: str, finished: Finished, seconds: float
) -> None:
    """The end of an action. Its lines were reported as it wrote them."""
    if call.tracer is not None:
        call.tracer.add(call.path, "Action")
    log.append(
        Completion(
            udf_type="Action",
            identifier=call.path.stripped,
            component_path=call.path.component or None,
            request_id=call.request_id,
            execution_id=execution_id,
            caller=call.caller,
            identity_type=identity_type(call.identity),
            environment=target.environment if target else "isolate",
            execution_seconds=seconds,
            user_seconds=finished.user_ms / 1000,
            error=finished.failure.message if finished.failure else None,
            parent_execution_id=call.parent_execution_id,
            return_bytes=finished.returned.size if finished.returned else None,
        )
    )


def record_failure(log: FunctionLog, call: Call, udf_type: UdfType, error: str) -> None:
    """The end of what never ran, or was lost while it ran."""
    log.append(
        Completion(
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
        )
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
