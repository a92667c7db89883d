"""Mutations that must not run twice: their results are kept under the session and request that asked for them."""

from typing import TYPE_CHECKING

import orjson

from convex_evals.backend.functions.types import MutationOutcome, SessionRequest
from convex_evals.backend.runtime.types import LogLine
from convex_evals.backend.values import COMMIT_TS, Value, decode_pending, dumps

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

TABLE = "_session_requests"


def find(transaction: "Transaction", request: SessionRequest, request_id: str) -> MutationOutcome | None:
    """The outcome of this request, if it was committed before."""
    row = transaction.system.first("", TABLE, "by_session", [request.session_id, request.request_id])
    if row is None:
        return None
    value, ts = row.value["result"], row.value["ts"]
    assert isinstance(ts, int)
    return MutationOutcome(dumps(value), None, request_id, _lines(row.value["logLines"]), ts)


def record(transaction: "Transaction", request: SessionRequest, result: str, log_lines: list[LogLine]) -> None:
    """Written with the mutation's own transaction; its timestamp is filled in by the commit."""
    lines: list[Value] = [
        {"level": line.level, "messages": list(line.messages), "timestamp": line.timestamp_ms} for line in log_lines
    ]
    transaction.system.insert(
        "",
        TABLE,
        {
            "sessionId": request.session_id,
            "requestId": request.request_id,
            "result": decode_pending(orjson.loads(result)),
            "logLines": lines,
            "ts": COMMIT_TS,
        },
    )


def _lines(stored: Value) -> list[LogLine]:
    assert isinstance(stored, list)
    return [
        LogLine(line["level"], tuple(line["messages"]), line["timestamp"])  # type: ignore[arg-type,call-overload,index]
        for line in stored
    ]
