"""Rows of `_scheduled_jobs`: what is to run, and the states it passes through."""

from dataclasses import dataclass
from typing import Final, Literal, cast

import orjson

from convex_evals.backend.database import Document, Transaction
from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.scheduler.planned import RowKey
from convex_evals.backend.values import Value

TABLE: Final = "_scheduled_jobs"

State = Literal["pending", "inProgress", "success", "failed", "canceled"]


@dataclass(frozen=True, slots=True)
class JobRow:
    key: RowKey
    path: FunctionPath
    args: object  # parsed JSON
    state: State
    attempts: dict[str, Value]

    @property
    def system_errors(self) -> int:
        return cast(int, self.attempts["systemErrors"])


def read(transaction: Transaction, key: RowKey) -> JobRow | None:
    row = transaction.system.get(key.namespace, TABLE, key.id)
    if row is None:
        return None
    value = row.value
    return JobRow(
        key=key,
        path=FunctionPath.parse(str(value["udfPath"]), str(value["component"])),
        args=orjson.loads(cast(bytes, value["udfArgs"])),
        state=_state(row),
        attempts=cast("dict[str, Value]", value["attempts"]),
    )


def state_of(transaction: Transaction, key: RowKey) -> State | None:
    row = transaction.system.get(key.namespace, TABLE, key.id)
    return None if row is None else _state(row)


def begin(transaction: Transaction, key: RowKey, request_id: str) -> None:
    _patch(transaction, key, {"state": {"type": "inProgress", "requestId": request_id}})


def succeed(transaction: Transaction, key: RowKey, now: int) -> None:
    _end(transaction, key, {"type": "success"}, now)


def fail(transaction: Transaction, key: RowKey, error: str, now: int) -> None:
    _end(transaction, key, {"type": "failed", "error": error}, now)


def postpone(transaction: Transaction, job: JobRow, until: int) -> None:
    """After a failure of our own."""
    attempts: dict[str, Value] = {**job.attempts, "systemErrors": job.system_errors + 1}
    _patch(transaction, job.key, {"nextTs": until, "attempts": attempts})


def _end(transaction: Transaction, key: RowKey, state: dict[str, Value], now: int) -> None:
    _patch(transaction, key, {"state": state, "nextTs": None, "completedTs": now})


def _patch(transaction: Transaction, key: RowKey, fields: dict[str, Value]) -> None:
    transaction.system.patch(key.namespace, TABLE, key.id, fields)


def _state(row: Document) -> State:
    return cast(State, cast("dict[str, Value]", row.value["state"])["type"])
