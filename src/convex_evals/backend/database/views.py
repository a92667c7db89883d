"""The system tables that app code may read: views of private tables under a public name."""

from base64 import b64encode
from collections.abc import Callable
from typing import Final

import orjson

from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.intervals import point
from convex_evals.backend.database.tables import system_table
from convex_evals.backend.values import Value, decode, sort_key

View = Callable[[TransactionCore, str, Document], Document]
"""From a transaction, a namespace and a private row to the public document."""


def _storage(core: TransactionCore, namespace: str, row: Document) -> Document:
    value = row.value
    digest = value["sha256"]
    return Document(
        {
            "_id": row.id,
            "_creationTime": row.creation_time,
            "contentType": value.get("contentType"),
            "sha256": b64encode(digest).decode() if isinstance(digest, bytes) else digest,
            "size": float(value["size"]),  # type: ignore[arg-type]
        }
    )


def _scheduled_function(core: TransactionCore, namespace: str, row: Document) -> Document:
    value = row.value
    state = value["state"]
    assert isinstance(state, dict)
    public: dict[str, Value] = {
        "_id": row.id,
        "_creationTime": row.creation_time,
        "name": value["udfPath"],
        "args": decode(orjson.loads(_arguments(core, namespace, value))),
        "scheduledTime": _milliseconds(value.get("originalScheduledTs") or value.get("nextTs")),
        "state": {"kind": state["type"], **({"error": state["error"]} if "error" in state else {})},
    }
    if value.get("completedTs") is not None:
        public["completedTime"] = _milliseconds(value["completedTs"])
    return Document(public)


def _arguments(core: TransactionCore, namespace: str, job: dict[str, Value]) -> bytes:
    arguments = job.get("udfArgs")
    if arguments is None and isinstance(args_id := job.get("argsId"), str):
        table = system_table(namespace, "_scheduled_job_args")
        core.read_set.add_system(table.by_id.storage, point(sort_key(args_id)))
        row = core.lookup(table, args_id)
        arguments = row.value["args"] if row else None
    return arguments if isinstance(arguments, bytes) else b"[]"


def _milliseconds(ts: Value) -> Value:
    return ts / 1_000_000 if isinstance(ts, int) else 0.0  # of integers: exact where floats would round twice


VIEWS: Final[dict[str, View]] = {"_storage": _storage, "_scheduled_functions": _scheduled_function}
