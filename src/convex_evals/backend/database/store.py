"""The committed state in memory: versions of documents in every index, search indexes and catalogs."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from sortedcontainers import SortedDict

from convex_evals.backend.database.catalog import CATALOG_TABLES, Catalog
from convex_evals.backend.database.commits import Write
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.ranges import EVERYTHING, Interval
from convex_evals.backend.database.tables import (
    Table,
    TableIndex,
    check_usable,
    index_not_found,
    split_index_name,
    system_table,
)
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.schema import IndexSpec, SearchIndexSpec, VectorIndexSpec
from convex_evals.backend.search import SearchDocument, TextIndex, VectorDocument, VectorHit, VectorIndex, VectorQuery

FOREVER: Final = 2**63 - 1

Keys = dict[str, dict[bytes, Write]]


class Row(NamedTuple):
    key: bytes
    document: Document


@dataclass(slots=True)
class Version:
    """Visible from `start` until before `end`."""

    start: int
    document: Document
    older: "Version | None" = None
    end: int = FOREVER

    def at(self, ts: int) -> Document | None:
        version: Version | None = self
        while version is not None and version.start > ts:
            version = version.older
        return version.document if version is not None and version.end > ts else None


class VersionedIndex:
    """Entries sorted by key. Every key ends in a document's id, so a key belongs to one document."""

    __slots__ = ("_entries", "live")

    def __init__(self) -> None:
        self._entries: SortedDict = SortedDict()  # bytes -> Version, newest first
        self.live = 0

    def get(self, key: bytes, ts: int) -> Document | None:
        version: Version | None = self._entries.get(key)
        return None if version is None else version.at(ts)

    def scan(self, interval: Interval, ts: int, descending: bool = False) -> Iterator[Row]:
        entries = self._entries
        for key in entries.irange(interval.start, interval.end, inclusive=(True, False), reverse=descending):
            document = entries[key].at(ts)
            if document is not None:
                yield Row(key, document)

    def load(self, documents: Iterable[tuple[bytes, Document]], ts: int) -> None:
        """Fills an empty index."""
        self._entries.update({key: Version(ts, document) for key, document in documents})
        self.live = len(self._entries)

    def end(self, key: bytes, ts: int) -> Version:
        version: Version = self._entries[key]
        version.end = ts
        self.live -= 1
        return version

    def start(self, documents: Mapping[bytes, Document], ts: int) -> None:
        entries = self._entries
        entries.update({key: Version(ts, document, entries.get(key)) for key, document in documents.items()})
        self.live += len(documents)

    def forget(self, key: bytes, ended: Version) -> None:
        """Drops an ended version and everything older."""
        version: Version = self._entries[key]
        if version is ended:
            del self._entries[key]
            return
        while version.older is not None and version.older is not ended:
            version = version.older
        version.older = None


class _Garbage(NamedTuple):
    ts: int
    storage: str
    key: bytes | None  # None: the whole index was dropped
    version: Version | None


class VersionStore:
    """All indexes of all tables, by their storage names."""

    def __init__(self) -> None:
        self._indexes: dict[str, VersionedIndex] = {}
        self._garbage: deque[_Garbage] = deque()

    def index(self, storage: str) -> VersionedIndex:
        index = self._indexes.get(storage)
        if index is None:
            index = self._indexes[storage] = VersionedIndex()
        return index

    def end(self, storage: str, key: bytes, ts: int) -> None:
        self._garbage.append(_Garbage(ts, storage, key, self._indexes[storage].end(key, ts)))

    def drop(self, storage: str, ts: int) -> None:
        self._garbage.append(_Garbage(ts, storage, None, None))

    def collect(self, horizon: int) -> None:
        """Forgets what no snapshot at or after `horizon` can see."""
        garbage = self._garbage
        while garbage and garbage[0].ts <= horizon:
            item = garbage.popleft()
            index = self._indexes.get(item.storage)
            if index is None:
                continue
            if item.key is None or item.version is None:
                del self._indexes[item.storage]
            else:
                index.forget(item.key, item.version)


class SearchIndexes:
    def __init__(self) -> None:
        self._text: dict[str, TextIndex] = {}
        self._vector: dict[str, VectorIndex] = {}
        self._dropped: deque[tuple[int, str]] = deque()

    def text(self, index: TableIndex) -> TextIndex:
        return self._text.setdefault(index.storage, TextIndex())

    def vector(self, index: TableIndex) -> VectorIndex:
        return self._vector.setdefault(index.storage, VectorIndex())

    def build(self, index: TableIndex, documents: Iterable[Document]) -> None:
        for document in documents:
            self.change(index, None, document)

    def change(self, index: TableIndex, old: Document | None, new: Document | None) -> None:
        match index.spec:
            case SearchIndexSpec() as spec:
                self._change_text(index, spec, old, new)
            case VectorIndexSpec() as spec:
                self._change_vector(index, spec, old, new)
            case IndexSpec():
                pass

    def drop(self, storage: str, ts: int) -> None:
        self._dropped.append((ts, storage))

    def collect(self, horizon: int) -> None:
        """A dropped index is kept as long as a snapshot from before can search it."""
        while self._dropped and self._dropped[0][0] <= horizon:
            _, storage = self._dropped.popleft()
            self._text.pop(storage, None)
            self._vector.pop(storage, None)

    def _change_text(
        self, index: TableIndex, spec: SearchIndexSpec, old: Document | None, new: Document | None
    ) -> None:
        text_index = self.text(index)
        if old is not None:
            text_index.remove(old.id)
        if new is not None:
            text_index.add(SearchDocument.of(spec, new.value))

    def _change_vector(
        self, index: TableIndex, spec: VectorIndexSpec, old: Document | None, new: Document | None
    ) -> None:
        vector_index = self.vector(index)
        if old is not None:
            vector_index.remove(old.id)
        document = VectorDocument.of(spec, new.value) if new is not None else None
        if document is not None:
            vector_index.add(document)


class CommittedState:
    """`catalogs` is replaced, never changed, so that snapshots may hold on to it."""

    def __init__(self) -> None:
        self.versions = VersionStore()
        self.searchable = SearchIndexes()
        self.catalogs: Mapping[str, Catalog] = {}

    def current(self, table: Table, id_key: bytes, ts: int) -> Document | None:
        return self.versions.index(table.by_id.storage).get(id_key, ts)

    def load(self, rows: Mapping[tuple[str, int], list[Document]], ts: int) -> None:
        """Fills an empty state. `rows` are all documents by namespace and table number."""
        for name in CATALOG_TABLES:
            for (namespace, number), documents in rows.items():
                if number == system_table("", name).number:
                    catalog = self._catalog(namespace)
                    for document in documents:
                        catalog = catalog.apply(name, None, document)
                    self.catalogs = {**self.catalogs, namespace: catalog}
        for (namespace, number), documents in rows.items():
            table = self._catalog(namespace).numbered(number)
            if table is not None:
                for index in table.indexes:
                    self._build(index, documents, ts)

    def apply(self, writes: Iterable[Write], ts: int) -> Keys:
        """Makes the writes visible from `ts` on. Returns the keys they left and took."""
        before = self.catalogs
        self.catalogs = _changed(before, writes)
        keys: Keys = {}
        for _, group in groupby(writes, key=lambda write: write.table.storage):
            in_table = list(group)
            keys.update(self._apply_to_table(self._maintained(before, in_table[0].table), in_table, ts))
        for namespace in {write.table.namespace for write in writes if write.table.name in CATALOG_TABLES}:
            self._rebuild(before.get(namespace), self.catalogs[namespace], ts)
        return keys

    def vector_search(self, namespace: str, query: Mapping[str, Any]) -> list[VectorHit]:
        """`query` is that of `1.0/actions/vectorSearch`."""
        full_name = str(query["indexName"])
        table_name, name = split_index_name(full_name)
        catalog = self.catalogs.get(namespace)
        table = catalog.tables.get(table_name) if catalog is not None else None
        if table is None:
            return []
        index = table.index(name)
        if index is None:
            raise index_not_found(table_name, name)
        check_usable(index)
        if not isinstance(index.spec, VectorIndexSpec):
            raise DeveloperError(f"Index {full_name} is not a vector index")
        return self.searchable.vector(index).search(VectorQuery.compile(full_name, index.spec, query))

    def collect(self, horizon: int) -> None:
        self.versions.collect(horizon)
        self.searchable.collect(horizon)

    def _catalog(self, namespace: str) -> Catalog:
        return self.catalogs.get(namespace) or Catalog(namespace)

    def _maintained(self, before: Mapping[str, Catalog], table: Table) -> Table:
        """The table with the indexes it had before the commit; those it got with the commit are built afterwards."""
        old = before.get(table.namespace)
        known = old.numbered(table.number) if old is not None else None
        return known or self._catalog(table.namespace).numbered(table.number) or table

    def _apply_to_table(self, table: Table, writes: list[Write], ts: int) -> Keys:
        keys: Keys = {}
        for index in table.indexes:
            if index.fields:
                keys[index.storage] = self._apply_to_index(index, writes, ts)
            else:
                for write in writes:
                    self.searchable.change(index, write.old, write.new)
        return keys

    def _apply_to_index(self, index: TableIndex, writes: list[Write], ts: int) -> dict[bytes, Write]:
        keys: dict[bytes, Write] = {}
        started: dict[bytes, Document] = {}
        for write in writes:
            if write.old is not None:
                key = index.key_of(write.old)
                self.versions.end(index.storage, key, ts)
                keys[key] = write
            if write.new is not None:
                key = index.key_of(write.new)
                started[key] = write.new
                keys[key] = write
        self.versions.index(index.storage).start(started, ts)
        return keys

    def _rebuild(self, before: Catalog | None, after: Catalog, ts: int) -> None:
        """Builds indexes that are new on a table that was there, and drops those that are gone."""
        tables = before.tables.values() if before is not None else ()
        old = {index.storage: index for table in tables for index in table.user_indexes}
        new = {index.storage: (table, index) for table in after.tables.values() for index in table.user_indexes}
        for storage, index in old.items():
            if storage not in new:
                self.versions.drop(storage, ts) if index.fields else self.searchable.drop(storage, ts)
        for storage, (table, index) in new.items():
            if storage not in old and before is not None and table.number in before.table_names:
                rows = self.versions.index(table.by_id.storage).scan(EVERYTHING, ts)
                self._build(index, [row.document for row in rows], ts)

    def _build(self, index: TableIndex, documents: list[Document], ts: int) -> None:
        if index.fields:
            entries = ((index.key_of(document), document) for document in documents)
            self.versions.index(index.storage).load(entries, ts)
        else:
            self.searchable.build(index, documents)


def _changed(catalogs: Mapping[str, Catalog], writes: Iterable[Write]) -> Mapping[str, Catalog]:
    by_table: dict[str, list[Write]] = defaultdict(list)
    for write in writes:
        if write.table.name in CATALOG_TABLES:
            by_table[write.table.name].append(write)
    if not by_table:
        return catalogs
    changed = dict(catalogs)
    for name in CATALOG_TABLES:
        for write in by_table[name]:
            catalog = changed.get(write.table.namespace) or Catalog(write.table.namespace)
            changed[write.table.namespace] = catalog.apply(name, write.old, write.new)
    return changed
