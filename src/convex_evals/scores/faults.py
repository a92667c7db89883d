"""What went wrong in a database, said in one sentence. Decided by error codes, never by texts."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError

from convex_evals.core.errors import ConvexEvalsError, InfrastructureError, UsageError
from convex_evals.scores.location import Location

_RESUME: Final = "what was recorded before is safe"
_SQLITE: Final = {
    sqlite3.SQLITE_FULL: f"The disk with {{where}} is full; free some space and go on: {_RESUME}.",
    sqlite3.SQLITE_BUSY: "{where} was locked by another process for too long; try again when that one is done.",
    sqlite3.SQLITE_READONLY: "{where} may not be written to; change its permissions or name another file.",
    sqlite3.SQLITE_PERM: "{where} may not be accessed; change its permissions or name another file.",
    sqlite3.SQLITE_CANTOPEN: "{where} cannot be opened; check that its folder exists and may be written to.",
    sqlite3.SQLITE_IOERR: f"The disk with {{where}} could not be read or written; check it: {_RESUME}.",
    sqlite3.SQLITE_CORRUPT: "{where} is damaged; restore it from a backup, or name another file.",
}
_POSTGRESQL: Final = {
    "53100": f"The disk of {{where}} is full; free some space and go on: {_RESUME}.",
    "25006": "{where} may not be written to; connect to a server that is not a read-only copy.",
    "42501": "{where} does not let this user do that; ask for the rights to create and change tables in it.",
}
_SHUTDOWN: Final = ("08", "53", "57")  # connection lost, out of resources, operator intervention


@contextmanager
def said_plainly(location: Location) -> Iterator[None]:
    """Turns trouble of the database into errors for the user. What remains is a bug and passes."""
    try:
        yield
    except DBAPIError as error:
        sentence = _sentence(error, location)
        if sentence is None:
            raise
        raise sentence from error


def _sentence(error: DBAPIError, location: Location) -> ConvexEvalsError | None:
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(getattr(cause, "sqlite_errorcode", 0) & 0xFF, location)
    return _of_postgresql(error, location)


def _of_sqlite(code: int, location: Location) -> ConvexEvalsError | None:
    if code == sqlite3.SQLITE_NOTADB:
        return UsageError(f"{location.shown} is not a database; name another file.")
    text = _SQLITE.get(code)
    return InfrastructureError(text.format(where=location.shown)) if text else None


def _of_postgresql(error: DBAPIError, location: Location) -> ConvexEvalsError | None:
    state = getattr(error.orig, "sqlstate", None)
    text = _POSTGRESQL.get(state or "")
    if text:
        return InfrastructureError(text.format(where=location.shown))
    lines = str(error.orig).strip().splitlines() or ["no reason given"]
    if state is None or error.connection_invalidated or state.startswith(_SHUTDOWN):
        return InfrastructureError(f"{location.shown} cannot be reached: {lines[0].rstrip('.')}; try again later.")
    return None
