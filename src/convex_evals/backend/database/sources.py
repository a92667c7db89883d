"""Where a query's rows come from, before its operators."""

from collections.abc import Iterator
from typing import Protocol

from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.indexes import TableIndex
from convex_evals.backend.database.intervals import Interval, successor
from convex_evals.backend.database.tables import Table
from convex_evals.backend.database.versions import Row
from convex_evals.backend.database.views import View


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
    """A table that does not exist. That it does not was recorded when the query was compiled."""

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
