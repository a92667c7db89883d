"""The private tables: the backend reads and writes them without limits; app code sees views of two of them."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import orjson

from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.ranges import Bound, Interval, key_interval, point, successor
from convex_evals.backend.database.tables import BY_CREATION_TIME, system_table
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.values import Value, decode, sort_key

View = Callable[[TransactionCore, str, Document], Document]
"""From a transaction, a namespace and a private row to the public document."""


class SystemTables:
    """Reads are recorded, so that conflicts and subscriptions see them, but they do not count as usage."""

    def __init__(self, core: TransactionCore) -> None:
        self._core = core

    def get(self, namespace: str, table: str, id: str) -> Document | None:
        target = system_table(namespace, table)
        self._core.read_set.add_system(target.by_id.storage, point(sort_key(id)))
        return self._core.lookup(target, id)

    def insert(self, namespace: str, table: str, fields: Mapping[str, Value], id: str | None = None) -> Document:
        """`id` may have been allocated before, with `DocumentId.new`."""
        target = system_table(namespace, table)
        new_id = id or str(DocumentId.new(target.number))
        document = Document.assemble(new_id, self._core.next_creation_time(), fields)
        self._core.write(target, new_id, document)
        return document

    def replace(self, namespace: str, table: str, id: str, fields: Mapping[str, Value]) -> Document:
        """Raises KeyError if there is no such row. Always a write, also when nothing changes."""
        document = Document.assemble(id, self._existing(namespace, table, id).creation_time, fields)
        self._core.write(system_table(namespace, table), id, document)
        return document

    def patch(self, namespace: str, table: str, id: str, fields: Mapping[str, Value]) -> Document:
        """Raises KeyError if there is no such row."""
        return self.replace(namespace, table, id, {**self._existing(namespace, table, id).fields, **fields})

    def delete(self, namespace: str, table: str, id: str) -> Document:
        """Raises KeyError if there is no such row."""
        document = self._existing(namespace, table, id)
        self._core.write(system_table(namespace, table), id, None)
        return document

    def scan(
        self,
        namespace: str,
        table: str,
        index: str = BY_CREATION_TIME,
        equal: Sequence[Value] = (),
        *,
        lower: Bound | None = None,
        upper: Bound | None = None,
        descending: bool = False,
        limit: int | None = None,
    ) -> list[Document]:
        """Rows in index order whose leading index fields are `equal`, the next one within the bounds.

        `index` is one of `SYSTEM_INDEXES`, `by_creation_time` or `by_id`.
        """
        target = system_table(namespace, table)
        found = target.index(index)
        if found is None:
            raise KeyError(f"{table} has no index {index}")
        interval = key_interval(equal, lower, upper)
        documents: list[Document] = []
        for row in self._core.scan(target, found, interval, descending):
            if len(documents) == limit:
                break
            documents.append(row.document)
            last = row.key
        if limit is not None and len(documents) == limit and documents:
            interval = Interval(last, interval.end) if descending else Interval(interval.start, successor(last))
        self._core.read_set.add_system(found.storage, interval)
        return documents

    def first(
        self, namespace: str, table: str, index: str = BY_CREATION_TIME, equal: Sequence[Value] = ()
    ) -> Document | None:
        return next(iter(self.scan(namespace, table, index, equal, limit=1)), None)

    def _existing(self, namespace: str, table: str, id: str) -> Document:
        document = self.get(namespace, table, id)
        if document is None:
            raise KeyError(f"{table} has no row {id}")
        return document


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
