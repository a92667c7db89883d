"""A running query: looks ahead freely, and accounts for exactly what was pulled."""

from collections import deque
from typing import NamedTuple

from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.operators import Operators
from convex_evals.backend.database.sources import RowSource
from convex_evals.backend.database.versions import Row
from convex_evals.backend.errors import DeveloperError


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
        try:
            self._fill(documents, count)
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

    def _fill(self, documents: list[Document], count: int) -> None:
        rows = self._source.rows()
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
