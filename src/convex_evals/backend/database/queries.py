"""Queries: from the JSON that the SDK sends to a source of rows, its operators, and a stream of documents."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import orjson

from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.expressions import compile_predicate
from convex_evals.backend.database.ranges import EVERYTHING, Interval, compile_range, successor
from convex_evals.backend.database.store import Row
from convex_evals.backend.database.system_tables import VIEWS, View
from convex_evals.backend.database.tables import (
    BY_CREATION_TIME,
    BY_ID,
    Table,
    TableIndex,
    check_usable,
    index_not_found,
    split_index_name,
    system_table,
)
from convex_evals.backend.database.text_search import TextSearch
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import PUBLIC_SYSTEM_TABLES
from convex_evals.backend.limits import MAX_OPERATORS, too_many_operators

Filter = Callable[[Document], bool]


class RowSource(Protocol):
    """Rows in order. Their keys are positions, which cursors are made of."""

    @property
    def counts_documents(self) -> bool:
        """False for system tables: their rows are free."""
        ...

    def rows(self) -> Iterator[Row]:
        """The rows after the current position, as the transaction sees them now."""
        ...

    def advance(self, key: bytes) -> None:
        """Moves the position to this row."""
        ...

    def record(self, key: bytes | None) -> None:
        """Records as read everything from the start to this row, or to the end."""
        ...

    def restrict(self, after: bytes | None, until: bytes | None) -> None:
        """Leaves only the rows after one key and up to another, both in the order of the source."""
        ...


class NoRows:
    """The rows of a table that does not exist; its absence was recorded when the query was compiled."""

    counts_documents = False

    def rows(self) -> Iterator[Row]:
        return iter(())

    def advance(self, key: bytes) -> None:
        """There is nowhere to go."""

    def record(self, key: bytes | None) -> None:
        """There is nothing to read."""

    def restrict(self, after: bytes | None, until: bytes | None) -> None:
        """There is nothing to leave out."""


class IndexScan:
    def __init__(
        self,
        core: TransactionCore,
        table: Table,
        index: TableIndex,
        interval: Interval,
        descending: bool,
        view: View | None = None,
    ) -> None:
        self._core = core
        self._table = table
        self._index = index
        self._interval = self._remaining = interval
        self._descending = descending
        self._view = view

    @property
    def counts_documents(self) -> bool:
        return not self._table.is_system

    def rows(self) -> Iterator[Row]:
        if self._remaining.is_empty:
            return iter(())
        rows = self._core.scan(self._table, self._index, self._remaining, self._descending)
        return rows if self._view is None else self._seen_through(self._view, rows)

    def advance(self, key: bytes) -> None:
        self._remaining = self._after(self._remaining, key)

    def record(self, key: bytes | None) -> None:
        interval = self._interval if key is None else self._until(self._interval, key)
        self._core.record(self._index, interval)

    def restrict(self, after: bytes | None, until: bytes | None) -> None:
        if after is not None:
            self._interval = self._after(self._interval, after)
        if until is not None:
            self._interval = self._until(self._interval, until)
        self._remaining = self._interval

    def _after(self, interval: Interval, key: bytes) -> Interval:
        if self._descending:
            return Interval(interval.start, key if interval.end is None else min(key, interval.end))
        return Interval(max(interval.start, successor(key)), interval.end)

    def _until(self, interval: Interval, key: bytes) -> Interval:
        if self._descending:
            return Interval(max(interval.start, key), interval.end)
        end = successor(key)
        return Interval(interval.start, end if interval.end is None else min(end, interval.end))

    def _seen_through(self, view: View, rows: Iterator[Row]) -> Iterator[Row]:
        for row in rows:
            yield Row(row.key, view(self._core, self._table.namespace, row.document))


@dataclass(slots=True)
class Limit:
    remaining: int


class Operators:
    """One run of a lazy pipeline."""

    def __init__(self, json: object) -> None:
        if not isinstance(json, list):
            raise DeveloperError("Invalid query: `operators` must be an array")
        if len(json) > MAX_OPERATORS:
            raise too_many_operators()
        self._operators = [_compile_operator(operator) for operator in json]
        self._limits = [operator for operator in self._operators if isinstance(operator, Limit)]

    @property
    def limit_reached(self) -> bool:
        """No further row may be read."""
        return any(limit.remaining <= 0 for limit in self._limits)

    def accept(self, document: Document) -> bool:
        """Whether the document comes out at the end. If a filter raises, no limit has counted the document."""
        passed: list[Limit] = []
        accepted = True
        for operator in self._operators:
            if isinstance(operator, Limit):
                passed.append(operator)
            elif not operator(document):
                accepted = False
                break
        for limit in passed:
            limit.remaining -= 1
        return accepted


def _compile_operator(json: object) -> Filter | Limit:
    match json:
        case {"filter": expression}:
            return compile_predicate(expression)
        case {"limit": int() | float() as limit}:
            return Limit(int(limit))
        case _:
            raise DeveloperError("Invalid query: an operator is a filter or a limit")


class CompiledQuery(NamedTuple):
    """`fingerprint` is equal for queries whose cursors may be exchanged."""

    source: RowSource
    operators: Operators
    fingerprint: bytes


class _Target(NamedTuple):
    """A table as app code names it; for a public system table, the private one and the view of its rows."""

    table: Table
    view: View | None


def compile_query(core: TransactionCore, namespace: str, json: object) -> CompiledQuery:
    """Raises DeveloperError for everything that is wrong with the query, except for text searches: they report their
    errors when the first row is asked for."""
    if not isinstance(json, dict) or not isinstance(json.get("source"), dict):
        raise DeveloperError("Invalid query: it must have a `source` and `operators`")
    source_json = json["source"]
    descending = source_json.get("order") == "desc"
    match source_json:
        case {"type": "FullTableScan", "tableName": str(name)}:
            index = None
            source = _full_scan(core, namespace, name, descending)
        case {"type": "IndexRange", "indexName": str(full_name), "range": range_json}:
            target, index = _find_index(core, namespace, full_name)
            interval = compile_range(index, range_json)
            source = IndexScan(core, target.table, index, interval, descending, target.view)
        case {"type": "Search", "indexName": str(full_name), "filters": list(filters)}:
            index = None
            source = TextSearch(core, namespace, *split_index_name(full_name), filters)
        case _:
            raise DeveloperError(f"Invalid query: unknown source {source_json.get('type')}")
    return CompiledQuery(source, Operators(json.get("operators", [])), _fingerprint(json, index))


def _full_scan(core: TransactionCore, namespace: str, name: str, descending: bool) -> RowSource:
    target = _find_table(core, namespace, name)
    if target is None:
        return NoRows()
    return IndexScan(core, target.table, target.table.by_creation_time, EVERYTHING, descending, target.view)


def _find_table(core: TransactionCore, namespace: str, name: str) -> _Target | None:
    private = PUBLIC_SYSTEM_TABLES.get(name)
    if private is not None:
        return _Target(system_table(namespace, private), VIEWS[name])
    table = None if name.startswith("_") else core.table_named(namespace, name)
    return None if table is None else _Target(table, None)


def _find_index(core: TransactionCore, namespace: str, full_name: str) -> tuple[_Target, TableIndex]:
    table_name, name = split_index_name(full_name)
    target = _find_table(core, namespace, table_name)
    if target is None:
        raise index_not_found(table_name, name)
    if target.view is None:
        core.depend_on_indexes(target.table)
    elif name not in (BY_ID, BY_CREATION_TIME):
        raise index_not_found(table_name, name)
    index = target.table.index(name)
    if index is None:
        raise index_not_found(table_name, name)
    check_usable(index)
    if not index.fields:
        raise DeveloperError(f"Index {table_name}.{name} is not a database index")
    return target, index


def _fingerprint(json: dict[str, object], index: TableIndex | None) -> bytes:
    fields = list(index.fields) if index is not None else []
    text = orjson.dumps([json["source"], json.get("operators", []), fields], option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=8).digest()


class Batch(NamedTuple):
    """`done`: nothing comes after these documents."""

    documents: list[Document]
    done: bool


class _Position(NamedTuple):
    """How far the query has read: up to the row at `key`, and how much that was."""

    key: bytes | None = None
    rows: int = 0
    size: int = 0

    def and_then(self, row: Row) -> "_Position":
        return _Position(row.key, self.rows + 1, self.size + row.document.size)


class QueryStream:
    def __init__(self, core: TransactionCore, source: RowSource, operators: Operators) -> None:
        self._core = core
        self._source = source
        self._operators = operators
        self._read = _Position()  # the last row looked at
        self._fetched: deque[_Position] = deque()  # of each document that was not pulled yet
        self._accounted = _Position()
        self._is_exhausted = False

    def fetch(self, count: int) -> Batch:
        """At least one and at most `count` further documents, unless there are none.

        Accounts for nothing; `pull` does. Sees writes made since the last fetch. An error that a row causes (a
        filter, a read limit) is raised by the fetch that starts with this row, and then the row is accounted for.
        """
        self._check_intervals()
        documents: list[Document] = []
        rows = self._source.rows()
        try:
            while len(documents) < count and not self._is_finished:
                row: Row | None = None
                try:
                    row = next(rows, None)
                    accepted = row is not None and self._examine(row)
                except DeveloperError:
                    if documents:
                        break
                    self._account(self._read if row is None else self._read.and_then(row))
                    raise
                if row is None:
                    self._is_exhausted = True
                elif accepted:
                    documents.append(row.document)
        finally:
            if self._read.key is not None:
                self._source.advance(self._read.key)
        return Batch(documents, self._is_finished)

    def pull(self, count: int) -> None:
        """Accounts for `count` pulls by user code; finding the end is one too.

        Raises when a read limit is exceeded, which can only happen when several streams look ahead together.
        """
        reached = self._accounted
        for _ in range(min(count, len(self._fetched))):
            reached = self._fetched.popleft()
            count -= 1
        if count > 0 and self._is_finished:
            reached = self._read
            if self._is_exhausted:
                self._source.record(None)
        self._account(reached)
        self._core.check_reads()

    @property
    def _is_finished(self) -> bool:
        return self._is_exhausted or self._operators.limit_reached

    def _examine(self, row: Row) -> bool:
        """Whether the row passes the operators. Counts as looked at, unless it causes an error."""
        read = self._read.and_then(row)
        self._check_limits(read)
        accepted = self._operators.accept(row.document)
        self._read = read
        if accepted:
            self._fetched.append(read)
        return accepted

    def _account(self, reached: _Position) -> None:
        if self._source.counts_documents:
            self._core.usage.documents_read += reached.rows - self._accounted.rows
            self._core.usage.bytes_read += reached.size - self._accounted.size
        if reached.key is not None and reached.key != self._accounted.key:
            self._source.record(reached.key)
        self._accounted = reached

    def _check_limits(self, reached: _Position) -> None:
        """Looking ahead must stop where pulling would fail."""
        usage, limits = self._core.usage, self._core.limits
        rows = reached.rows - self._accounted.rows
        size = reached.size - self._accounted.size
        is_over = usage.documents_read + rows > limits.documents_read or usage.bytes_read + size > limits.bytes_read
        if is_over and self._source.counts_documents:
            limits.check_reads(usage.after_reading(rows, size))

    def _check_intervals(self) -> None:
        """When no further interval may be read, the first row (or the absence of one) must not be a new one."""
        if self._is_finished or self._core.usage.database_queries < self._core.limits.database_queries:
            return
        first = next(self._source.rows(), None)
        self._source.record(None if first is None else first.key)
        self._core.check_reads()
