"""The writes of a transaction that is not committed yet, with savepoints."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sortedcontainers import SortedDict

from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.indexes import TableIndex
from convex_evals.backend.database.intervals import Interval
from convex_evals.backend.database.tables import Table
from convex_evals.backend.database.versions import Row


@dataclass(slots=True)
class TableWrites:
    """The newest state of every document written: None is deleted. Index orders are kept once somebody asked."""

    table: Table
    documents: dict[str, Document | None] = field(default_factory=dict)
    _sorted: dict[str, tuple[TableIndex, SortedDict]] = field(default_factory=dict)

    def set(self, id: str, document: Document | None) -> None:
        previous = self.documents.get(id)
        self.documents[id] = document
        self._move(previous, document)

    def unset(self, id: str) -> None:
        self._move(self.documents.pop(id), None)

    def scan(self, index: TableIndex, interval: Interval, descending: bool) -> Iterator[Row]:
        entries = self._in_order(index)
        for key in entries.irange(interval.start, interval.end, inclusive=(True, False), reverse=descending):
            yield Row(key, entries[key])

    def _in_order(self, index: TableIndex) -> SortedDict:
        if index.storage not in self._sorted:
            written = {index.key_of(document): document for document in self.documents.values() if document}
            self._sorted[index.storage] = (index, SortedDict(written))
        return self._sorted[index.storage][1]

    def _move(self, previous: Document | None, document: Document | None) -> None:
        for index, entries in self._sorted.values():
            if previous is not None:
                del entries[index.key_of(previous)]
            if document is not None:
                entries[index.key_of(document)] = document


class _Undo(NamedTuple):
    table: Table
    id: str
    written_before: bool
    previous: Document | None


class PendingWrites:
    def __init__(self) -> None:
        self._tables: dict[str, TableWrites] = {}
        self._undo: list[_Undo] = []

    def __iter__(self) -> Iterator[TableWrites]:
        return iter(self._tables.values())

    @property
    def is_empty(self) -> bool:
        return not any(writes.documents for writes in self._tables.values())

    def of(self, table: Table) -> Mapping[str, Document | None]:
        writes = self._tables.get(table.storage)
        return {} if writes is None else writes.documents

    def scan(self, table: Table, index: TableIndex, interval: Interval, descending: bool) -> Iterator[Row]:
        writes = self._tables.get(table.storage)
        return iter(()) if writes is None else writes.scan(index, interval, descending)

    def set(self, table: Table, id: str, document: Document | None) -> None:
        writes = self._tables.get(table.storage)
        if writes is None:
            writes = self._tables[table.storage] = TableWrites(table)
        self._undo.append(_Undo(table, id, id in writes.documents, writes.documents.get(id)))
        writes.set(id, document)

    def position(self) -> int:
        return len(self._undo)

    def undo_to(self, position: int) -> None:
        while len(self._undo) > position:
            undo = self._undo.pop()
            writes = self._tables[undo.table.storage]
            if undo.written_before:
                writes.set(undo.id, undo.previous)
            else:
                writes.unset(undo.id)
