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


class _Step(NamedTuple):
    """Rows read together, the last of them at `key`: those that filters dropped, and then one that they let pass."""

    key: bytes | None = None
    rows: int = 0
    size: int = 0

    def and_then(self, row: Row) -> "_Step":
        return _Step(row.key, self.rows + 1, self.size + row.document.size)


class QueryStream:
    def __init__(self, core: TransactionCore, source: RowSource, operators: Operators) -> None:
        self._core = core
        self._source = source
        self._operators = operators
        self._fetched: deque[_Step] = deque()  # not pulled yet
        self._dropped = _Step()  # since the last fetched row
        self._ahead = _Step()  # both together
        self._exhausted = False
        self._closed = False

    def fetch(self, count: int) -> Batch:
        """At least one and at most `count` further documents, unless there are none.

        Accounts for nothing; `pull` does. Sees writes made since the last fetch. An error that a row causes (a
        filter, a read limit) is raised by the fetch that starts with this row, and then the row is accounted for.
        """
        self._check_intervals()
        documents: list[Document] = []
        rows = self._source.rows()
        while len(documents) < count and not self._is_finished:
            row: Row | None = None
            try:
                row = next(rows, None)
                accepted = row is not None and self._examine(row)
            except DeveloperError:
                if documents:
                    break
                self._account(self._dropped if row is None else self._dropped.and_then(row))
                raise
            if row is None:
                self._exhausted = True
            elif accepted:
                documents.append(row.document)
        return Batch(documents, self._is_finished)

    def pull(self, count: int) -> None:
        """Accounts for `count` pulls by user code; finding the end is one too.

        Raises when a read limit is exceeded, which can only happen when several streams look ahead together.
        """
        pulled = _Step()
        for _ in range(min(count, len(self._fetched))):
            step = self._fetched.popleft()
            pulled = _Step(step.key, pulled.rows + step.rows, pulled.size + step.size)
            count -= 1
        if count > 0 and self._is_finished and not self._closed:
            self._closed = True
            dropped = self._dropped
            pulled = _Step(dropped.key or pulled.key, pulled.rows + dropped.rows, pulled.size + dropped.size)
            if self._exhausted:
                self._source.record(None)
        self._ahead = _Step(None, self._ahead.rows - pulled.rows, self._ahead.size - pulled.size)
        self._account(pulled)
        self._core.check_reads()

    @property
    def _is_finished(self) -> bool:
        return self._exhausted or self._operators.limit_reached

    def _examine(self, row: Row) -> bool:
        """Whether the row passes the operators. Moves past it, unless it causes an error."""
        self._check_limits(row)
        accepted = self._operators.accept(row.document)
        self._source.advance(row.key)
        self._ahead = self._ahead.and_then(row)
        self._dropped = self._dropped.and_then(row)
        if accepted:
            self._fetched.append(self._dropped)
            self._dropped = _Step()
        return accepted

    def _account(self, step: _Step) -> None:
        if self._source.counts_documents:
            self._core.usage.documents_read += step.rows
            self._core.usage.bytes_read += step.size
        if step.key is not None:
            self._source.record(step.key)

    def _check_limits(self, row: Row) -> None:
        """Looking ahead must stop where pulling would fail."""
        if self._source.counts_documents:
            ahead = self._ahead.and_then(row)
            self._core.limits.check_reads(self._core.usage.after_reading(ahead.rows, ahead.size))

    def _check_intervals(self) -> None:
        """When no further interval may be read, the first row (or the absence of one) must not be a new one."""
        if self._is_finished or self._core.usage.database_queries < self._core.limits.database_queries:
            return
        first = next(self._source.rows(), None)
        self._source.record(None if first is None else first.key)
        self._core.check_reads()
