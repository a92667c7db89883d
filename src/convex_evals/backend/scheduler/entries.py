"""Entries of the function log for what ended without an execution."""

from typing import Final

from convex_evals.backend.deployed import UdfType
from convex_evals.backend.functions.records import identity_type, new_execution_id
from convex_evals.backend.functions.types import Call
from convex_evals.backend.logs import Completion, FunctionLog

TRANSIENT_ERROR: Final = "Transient error while executing action"


def record_failure(log: FunctionLog, call: Call, udf_type: UdfType, error: str) -> None:
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
