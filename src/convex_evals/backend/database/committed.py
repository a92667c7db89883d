"""The committed state in memory: versions of documents, search indexes and catalogs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from convex_evals.backend.database.catalog import CATALOG_TABLES, Catalog
from convex_evals.backend.database.commits import Write
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.indexes import TableIndex
from convex_evals.backend.database.intervals import EVERYTHING
from convex_evals.backend.database.search_indexes import SearchIndexes
from convex_evals.backend.database.tables import Table, system_table
from convex_evals.backend.database.versions import VersionStore

Keys = dict[str, dict[bytes, Write]]


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
        old = {index.storage: index for index in _user_indexes(before)} if before is not None else {}
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


def _user_indexes(catalog: Catalog) -> Iterator[TableIndex]:
    for table in catalog.tables.values():
        yield from table.user_indexes
