"""Full text search as a source of rows, best match first."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from convex_evals.backend import limits
from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.ranges import point
from convex_evals.backend.database.store import Row
from convex_evals.backend.database.tables import Table, TableIndex, check_usable, index_not_found
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.schema import SearchIndexSpec
from convex_evals.backend.search import (
    Hit,
    Overlay,
    SearchDocument,
    SearchQuery,
    search_text,
)
from convex_evals.backend.values import sort_key


@dataclass(frozen=True)
class TermsRead:
    """What a search depends on: documents of the table that match its terms and filters."""

    table: str
    spec: SearchIndexSpec
    query: SearchQuery

    def matches(self, document: Document) -> bool:
        return self.query.matches(SearchDocument.of(self.spec, document.value))


class TextSearch:
    """Nothing is looked at before the first row is asked for."""

    counts_documents = True

    def __init__(
        self, core: TransactionCore, namespace: str, table: str, index: str, filters: list[dict[str, Any]]
    ) -> None:
        self._core = core
        self._namespace = namespace
        self._table_name = table
        self._index_name = index
        self._filters = filters
        self._table: Table | None = None
        self._results: list[Row] | None = None
        self._is_cut = False
        self._recorded = 0
        self._after: bytes | None = None
        self._until: bytes | None = None

    def rows(self) -> Iterator[Row]:
        for row in self._found():
            if self._after is not None and row.key <= self._after:
                continue
            if self._until is not None and row.key > self._until:
                return
            yield row
        if self._is_cut:
            raise limits.too_many_scanned()

    def advance(self, key: bytes) -> None:
        self._after = key

    def record(self, key: bytes | None) -> None:
        """The terms were recorded by the search itself; here, each result that was pulled."""
        results = self._found()
        while self._table and self._recorded < len(results) and (key is None or results[self._recorded].key <= key):
            row = results[self._recorded]
            self._core.record(self._table.by_id, point(row.document.id_key))
            self._recorded += 1

    def restrict(self, after: bytes | None, until: bytes | None) -> None:
        self._after, self._until = after, until
        results = self._found()
        while after is not None and self._recorded < len(results) and results[self._recorded].key <= after:
            self._recorded += 1

    def _found(self) -> list[Row]:
        if self._results is None:
            self._results = self._search()
        return self._results

    def _search(self) -> list[Row]:
        table = self._table = self._core.table_named(self._namespace, self._table_name)
        if table is None:
            raise index_not_found(self._table_name, self._index_name)
        full_name = f"{self._table_name}.{self._index_name}"
        if search_text(full_name, self._filters) == "":
            return []
        index, spec = self._index(table)
        query = SearchQuery.compile(full_name, spec, self._filters)
        self._core.read_set.add_search(TermsRead(table.storage, spec, query))
        hits = self._core.snapshot.searchable.text(index).search(query, self._overlay(table, spec))
        self._is_cut = len(hits) >= limits.MAX_CANDIDATES
        return [self._row(table, hit) for hit in hits]

    def _index(self, table: Table) -> tuple[TableIndex, SearchIndexSpec]:
        self._core.depend_on_indexes(table)
        index = table.index(self._index_name)
        if index is None:
            raise index_not_found(self._table_name, self._index_name)
        check_usable(index)
        if not isinstance(index.spec, SearchIndexSpec):
            raise DeveloperError(f"Index {self._table_name}.{self._index_name} is not a search index")
        return index, index.spec

    def _overlay(self, table: Table, spec: SearchIndexSpec) -> Overlay:
        """From the newest committed documents to what this transaction sees."""
        changed = self._core.snapshot.log.ids_changed(table, self._core.ts) | set(self._core.pending.of(table))
        seen = [document for id in changed if (document := self._core.lookup(table, id)) is not None]
        added = tuple(SearchDocument.of(spec, document.value) for document in seen)
        return Overlay(added, frozenset(changed))

    def _row(self, table: Table, hit: Hit) -> Row:
        document = self._core.lookup(table, hit.id)
        assert document is not None
        newest_first = bytes(255 - byte for byte in hit.internal_id)
        return Row(sort_key(-hit.score) + sort_key(-hit.creation_time) + newest_first, document)
