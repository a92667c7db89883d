"""The database of one deployment, in memory and on disk."""

import os
import sqlite3
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple
from weakref import WeakSet

from convex_evals.backend.clock import DeploymentClock
from convex_evals.backend.database.catalog import Catalog
from convex_evals.backend.database.commits import Commit, CommitLog, ReadSet, Write
from convex_evals.backend.database.core import Snapshot
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.store import CommittedState
from convex_evals.backend.database.transaction import Transaction
from convex_evals.backend.errors import Conflict, RequestError, SystemFailure
from convex_evals.backend.ids import public_name
from convex_evals.backend.search import VectorHit
from convex_evals.backend.values import sort_key

RETENTION_NS: Final = 30 * 10**9
COLLECT_EVERY_NS: Final = 10**9
TICK_NS: Final = 1000  # creation times are milliseconds in a float, which cannot represent smaller steps

CommitCallback = Callable[[Commit], None]

FORMAT = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    namespace TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (namespace, number, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""
_UPSERT = "INSERT INTO documents VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET text = excluded.text"
_DELETE = "DELETE FROM documents WHERE namespace = ? AND number = ? AND id = ?"
_SET_FACT = "INSERT INTO facts VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"


class StoredDocument(NamedTuple):
    namespace: str
    number: int
    id: str
    text: str


class DatabaseFile:
    """The newest version of every document, in one SQLite file.

    A commit is on disk when `write` returns: the process may be killed at any time.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.1)
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_SCHEMA)
            self._check_format(path)
        except (sqlite3.Error, OSError) as error:
            raise SystemFailure(f"cannot open the database {path}: {error}") from error

    def _check_format(self, path: Path) -> None:
        found = self.fact("format")
        if found not in (None, FORMAT):
            raise SystemFailure(f"{path} has the format {found!r}, but this version reads and writes format {FORMAT}")
        self._connection.execute(_SET_FACT, ("format", FORMAT))

    def close(self) -> None:
        self._connection.close()

    def fact(self, name: str) -> int | bytes | None:
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def set_fact(self, name: str, value: int | bytes) -> None:
        self._connection.execute(_SET_FACT, (name, value))

    def documents(self) -> Iterator[StoredDocument]:
        with closing(self._connection.execute("SELECT namespace, number, id, text FROM documents")) as rows:
            for row in rows:
                yield StoredDocument(*row)

    def write(self, ts: int, writes: Iterable[Write]) -> None:
        """All of it or nothing. Raises SystemFailure when it cannot be written."""
        upserts: list[StoredDocument] = []
        deletes: list[tuple[str, int, str]] = []
        for table, id, _, new in writes:
            if new is None:
                deletes.append((table.namespace, table.number, id))
            else:
                upserts.append(StoredDocument(table.namespace, table.number, id, new.text))
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(_DELETE, deletes)
            self._connection.executemany(_UPSERT, upserts)
            self._connection.execute(_SET_FACT, ("latest", ts))
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise SystemFailure(f"cannot write to the database: {error}") from error

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                raise SystemFailure(f"cannot undo a failed write to the database: {error}") from error


class _CatalogVersion(NamedTuple):
    ts: int
    catalogs: Mapping[str, Catalog]


class Database:
    """Everything is synchronous and belongs to one thread. Commits are serial; reads never wait.

    Old versions are kept for `RETENTION_NS`, and as long as a transaction reads them.
    """

    def __init__(self, file: DatabaseFile | None = None, clock: DeploymentClock | None = None) -> None:
        self._file = file
        self._clock = clock or DeploymentClock()
        self._state = CommittedState()
        self._cursor_key = os.urandom(16)
        self._latest = self._clock.now_ns()
        if file is not None:
            self._load(file)
        self._log = CommitLog(self._latest)
        self._catalogs: deque[_CatalogVersion] = deque([_CatalogVersion(self._latest, self._state.catalogs)])
        self._active: WeakSet[Transaction] = WeakSet()
        self._callbacks: list[CommitCallback] = []
        self._collected = self._latest

    @classmethod
    def open(cls, path: Path | None, clock: DeploymentClock | None = None) -> "Database":
        """In memory only without a path. Raises SystemFailure."""
        return cls(None if path is None else DatabaseFile(path), clock)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def latest(self) -> int:
        """The timestamp of the newest commit, in nanoseconds."""
        return self._latest

    def begin(self, at: int | None = None) -> Transaction:
        """Reads the newest state, or the state at a timestamp of the last `RETENTION_NS`. Raises RequestError (503)."""
        ts = self._latest if at is None else at
        transaction = Transaction(self._snapshot(ts))
        self._active.add(transaction)
        return transaction

    def commit(self, transaction: Transaction, source: str | None = None) -> Commit:
        """Makes the writes durable, then visible. `source` is the path of the function, for the texts of conflicts.

        Raises Conflict if something the transaction read has changed, SystemFailure if nothing can be written; either
        way nothing has happened.
        """
        if transaction.pending.is_empty:
            return Commit(transaction.ts, source=source)
        self._check_conflicts(transaction)
        ts = max(self._clock.now_ns(), self._latest + TICK_NS, round(transaction.newest_creation_ms * 1e6) + TICK_NS)
        writes = self._resolve_writes(transaction, ts)
        if self._file is not None:
            self._file.write(ts, writes)
        commit = self._publish(ts, writes, source)
        self._clock.tick()
        self._collect()
        for callback in tuple(self._callbacks):
            callback(commit)
        return commit

    def on_commit(self, callback: CommitCallback) -> Callable[[], None]:
        """Calls back after every commit that wrote something. Returns a function that removes the callback."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def changed_since(self, read_set: ReadSet, ts: int) -> bool:
        """Whether a commit after `ts` may have changed what was read. True when it is too long ago to tell."""
        return ts < self._log.start or self._log.first_touching(read_set, ts) is not None

    def vector_search(self, namespace: str, query: Mapping[str, Any]) -> list[VectorHit]:
        """`query` is that of `1.0/actions/vectorSearch`. Sees the newest commit."""
        return self._state.vector_search(namespace, query)

    # ------------------------------------------------------------------ private

    def _load(self, file: DatabaseFile) -> None:
        rows: dict[tuple[str, int], list[Document]] = defaultdict(list)
        for namespace, number, _, text in file.documents():
            rows[namespace, number].append(Document.restore(text))
        latest, cursor_key = file.fact("latest"), file.fact("cursor_key")
        self._latest = latest if isinstance(latest, int) else self._latest
        if isinstance(cursor_key, bytes):
            self._cursor_key = cursor_key
        else:
            file.set_fact("cursor_key", self._cursor_key)
        self._state.load(rows, self._latest)

    def _snapshot(self, ts: int) -> Snapshot:
        if ts > self._latest:
            raise SystemFailure(f"there is no snapshot at {ts} yet: the newest is {self._latest}")
        if ts < self._log.start:
            raise RequestError(503, "OutOfRetention", f"The snapshot at {ts} is gone: the oldest is {self._log.start}.")
        state = self._state
        catalogs = next(version.catalogs for version in reversed(self._catalogs) if version.ts <= ts)
        now = max(ts, self._clock.now_ns())
        return Snapshot(ts, now, state.versions, catalogs, state.searchable, self._log, self._cursor_key)

    def _check_conflicts(self, transaction: Transaction) -> None:
        found = self._log.first_touching(transaction.read_set, transaction.ts)
        if found is not None:
            commit, write = found
            raise Conflict(public_name(write.table.name), write.id, commit.source)

    def _resolve_writes(self, transaction: Transaction, ts: int) -> tuple[Write, ...]:
        """Against the newest state, and with the commit timestamp where it was asked for."""
        writes: list[Write] = []
        for in_table in transaction.pending:
            for id, document in in_table.documents.items():
                old = self._state.current(in_table.table, sort_key(id), self._latest)
                new = None if document is None else document.resolved(ts)
                if old is not None or new is not None:
                    writes.append(Write(in_table.table, id, old, new))
        return tuple(writes)

    def _publish(self, ts: int, writes: tuple[Write, ...], source: str | None) -> Commit:
        catalogs = self._state.catalogs
        keys = self._state.apply(writes, ts)
        self._latest = ts
        if self._state.catalogs is not catalogs:
            self._catalogs.append(_CatalogVersion(ts, self._state.catalogs))
        commit = Commit(ts, writes, source, keys)
        self._log.append(commit)
        return commit

    def _collect(self) -> None:
        if self._latest - self._collected < COLLECT_EVERY_NS:
            return
        self._collected = self._latest
        horizon = min([self._latest - RETENTION_NS, *(transaction.ts for transaction in self._active)])
        self._state.collect(horizon)
        self._log.trim(horizon)
        while len(self._catalogs) > 1 and self._catalogs[1].ts <= horizon:
            self._catalogs.popleft()
