"""The database on disk: the newest version of every document, in one SQLite file."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from convex_evals.backend.database.commits import Write
from convex_evals.backend.errors import SystemFailure

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
    """A commit is on disk when `write` returns: the process may be killed at any time."""

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
