"""A transaction's state: its snapshot, what it read, what it wrote."""

import heapq
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sortedcontainers import SortedDict

from convex_evals.backend.clock import milliseconds
from convex_evals.backend.database.catalog import CATALOG_TABLES, Catalog
from convex_evals.backend.database.commits import CommitLog, ReadSet
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.ranges import EVERYTHING, Interval, point, prefixed
from convex_evals.backend.database.store import Row, SearchIndexes, VersionStore
from convex_evals.backend.database.tables import Table, TableIndex, system_table
from convex_evals.backend.limits import Limits, Usage
from convex_evals.backend.values import sort_key


@dataclass(slots=True)
class TableWrites:
    """The newest state of every document written: None is deleted. An index order is kept from its first use on."""

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


class Snapshot(NamedTuple):
    """The committed state at `ts`, at the time `now`, in ns. `searchable` is the newest state; `log` tells what changed
    since."""

    ts: int
    now: int
    store: VersionStore
    catalogs: Mapping[str, Catalog]
    searchable: SearchIndexes
    log: CommitLog
    cursor_key: bytes


class Savepoint(NamedTuple):
    position: int
    catalogs: dict[str, Catalog]
    documents_written: int
    bytes_written: int


class TransactionCore:
    """Unchecked reads and writes. Rules and texts are in `Transaction`."""

    def __init__(self, snapshot: Snapshot, limits: Limits) -> None:
        self.snapshot = snapshot
        self.limits = limits
        self.usage = Usage()
        self.read_set = ReadSet()
        self.pending = PendingWrites()
        self.started_ms = milliseconds(snapshot.now)
        self._next_creation_time = self.started_ms
        self._catalogs = dict(snapshot.catalogs)
        self._recorded: set[tuple[str, str]] = set()

    @property
    def ts(self) -> int:
        """The timestamp of the snapshot."""
        return self.snapshot.ts

    # ------------------------------------------------------------------ catalog

    def catalog(self, namespace: str) -> Catalog:
        """The tables, indexes and schemas this transaction sees. Looking does not record a read."""
        catalog = self._catalogs.get(namespace)
        if catalog is None:
            catalog = self._catalogs[namespace] = Catalog(namespace)
        return catalog

    def table_named(self, namespace: str, name: str) -> Table | None:
        if (namespace, name) not in self._recorded:
            self._recorded.add((namespace, name))
            by_name = _system_index(namespace, "_tables", "by_name")
            self.read_set.add_system(by_name.storage, prefixed(sort_key(name)))
        return self.catalog(namespace).tables.get(name)

    def table_numbered(self, namespace: str, number: int) -> Table | None:
        name = self.catalog(namespace).table_names.get(number)
        if name is not None:
            return self.table_named(namespace, name)
        self.depend_on_tables(namespace)
        return None

    def depend_on_tables(self, namespace: str) -> None:
        """Depends on which tables exist."""
        self._depend(namespace, "*tables", _system_index(namespace, "_tables", "by_name"), EVERYTHING)

    def depend_on_indexes(self, table: Table) -> None:
        by_table = _system_index(table.namespace, "_index", "by_table")
        self._depend(table.namespace, f"*indexes of {table.name}", by_table, prefixed(sort_key(table.number)))

    def depend_on_schema(self, namespace: str) -> None:
        self._depend(namespace, "*schema", system_table(namespace, "_schemas").by_creation_time, EVERYTHING)

    def _depend(self, namespace: str, what: str, index: TableIndex, interval: Interval) -> None:
        """Records a read once. `what` cannot be the name of a table: those are in the same set."""
        if (namespace, what) not in self._recorded:
            self._recorded.add((namespace, what))
            self.read_set.add_system(index.storage, interval)

    # ------------------------------------------------------------------ reads

    def lookup(self, table: Table, id: str) -> Document | None:
        """The document as this transaction sees it. Records nothing."""
        written = self.pending.of(table)
        if id in written:
            return written[id]
        return self.snapshot.store.index(table.by_id.storage).get(sort_key(id), self.ts)

    def scan(self, table: Table, index: TableIndex, interval: Interval, descending: bool = False) -> Iterator[Row]:
        """Rows in index order, own writes included. Records nothing. To be consumed before the next write."""
        committed = self.snapshot.store.index(index.storage).scan(interval, self.ts, descending)
        written = self.pending.of(table)
        if not written:
            return committed
        unwritten = (row for row in committed if row.document.id not in written)
        own = self.pending.scan(table, index, interval, descending)
        return heapq.merge(unwritten, own, reverse=descending)

    def count_rows(self, table: Table) -> int:
        """How many documents the table has. Records nothing."""
        index = self.snapshot.store.index(table.by_id.storage)
        is_newest = next(self.snapshot.log.since(self.ts), None) is None
        count = index.live if is_newest else sum(1 for _ in index.scan(EVERYTHING, self.ts))
        for id, document in self.pending.of(table).items():
            count += (document is not None) - (index.get(sort_key(id), self.ts) is not None)
        return count

    def read(self, table: Table, id: str) -> Document | None:
        """The same as a read by user code: recorded, counted and checked."""
        document = self.lookup(table, id)
        self.record(table.by_id, point(sort_key(id)))
        if document is not None and not table.is_system:
            self.usage.documents_read += 1
            self.usage.bytes_read += document.size
        self.check_reads()
        return document

    def record(self, index: TableIndex, interval: Interval) -> None:
        """A read by user code: it counts. Call `check_reads` when all of an operation is recorded."""
        self.read_set.add(index.storage, interval)
        self.usage.database_queries = self.read_set.user_intervals

    def check_reads(self) -> None:
        self.limits.check_reads(self.usage)

    # ------------------------------------------------------------------ writes

    @property
    def newest_creation_ms(self) -> float:
        """Documents of later transactions are created after this, whatever the clock says."""
        return self._next_creation_time if self._next_creation_time > self.started_ms else 0.0

    def next_creation_time(self) -> float:
        creation_time = self._next_creation_time
        self._next_creation_time = math.nextafter(creation_time, math.inf)
        return creation_time

    def write(self, table: Table, id: str, document: Document | None) -> None:
        previous = self.lookup(table, id) if table.name in CATALOG_TABLES else None
        self.pending.set(table, id, document)
        if table.name in CATALOG_TABLES:
            catalog = self.catalog(table.namespace)
            self._catalogs[table.namespace] = catalog.apply(table.name, previous, document)

    def count_write(self, table: Table, size: int) -> None:
        if not table.is_system:
            self.usage.documents_written += 1
            self.usage.bytes_written += size
            self.limits.check_writes(self.usage)

    def savepoint(self) -> Savepoint:
        return Savepoint(
            self.pending.position(), dict(self._catalogs), self.usage.documents_written, self.usage.bytes_written
        )

    def rollback(self, savepoint: Savepoint) -> None:
        """Takes back every write since, in documents, tables and system rows. Reads stay."""
        self.pending.undo_to(savepoint.position)
        self._catalogs = dict(savepoint.catalogs)
        self.usage.documents_written = savepoint.documents_written
        self.usage.bytes_written = savepoint.bytes_written

    def release(self, savepoint: Savepoint) -> None:
        """Keeps the writes since; they now belong to whatever encloses the savepoint."""


def _system_index(namespace: str, table: str, name: str) -> TableIndex:
    index = system_table(namespace, table).index(name)
    assert index is not None
    return index
