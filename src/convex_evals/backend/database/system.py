"""The private tables, for the backend itself: no limits, no schema, same transaction."""

from collections.abc import Mapping, Sequence

from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.indexes import BY_CREATION_TIME
from convex_evals.backend.database.intervals import Interval, point, successor
from convex_evals.backend.database.ranges import Bound, key_interval
from convex_evals.backend.database.tables import system_table
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.values import Value, sort_key


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
