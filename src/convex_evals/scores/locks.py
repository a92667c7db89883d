"""Holding a run: while one process works on it, no other may resume it. A hold goes with its holder."""

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import text

from convex_evals.core.errors import UsageError
from convex_evals.core.files import try_lock
from convex_evals.core.ids import prefix
from convex_evals.scores.database import Database

_LOCK_TRIES: Final = 4
_LOCK_PAUSE_SECONDS: Final = 0.05


@contextmanager
def hold_run(database: Database, run_id: str) -> Iterator[None]:
    with _held_on_server(database, run_id) if database.location.path is None else _held_file(database, run_id):
        yield


def is_run_held(database: Database, run_id: str) -> bool:
    if database.location.path is None:
        return _is_held_on_server(database, run_id)
    path = _lock_path(database.location.path, run_id)
    try:
        descriptor = try_lock(path, create=False)
    except OSError:  # it is someone else's, and may only be looked at
        return path.exists()
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None and path.exists()


def _held_elsewhere(run_id: str) -> UsageError:
    return UsageError(f"Another process is working on run {prefix(run_id)}; wait for it, or stop it first.")


def _lock_path(database: Path, run_id: str) -> Path:
    return database.with_name(f"{database.name}-holds") / run_id


@contextmanager
def _held_file(database: Database, run_id: str) -> Iterator[None]:
    assert database.location.path is not None
    path = _lock_path(database.location.path, run_id)
    path.parent.mkdir(exist_ok=True)
    descriptor = _lock_with_retries(path)
    if descriptor is None:
        raise _held_elsewhere(run_id)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _lock_with_retries(path: Path) -> int | None:
    """Whoever only looks whether the run is held also takes the lock, for an instant."""
    for _ in range(_LOCK_TRIES):
        descriptor = try_lock(path)
        if descriptor is not None:
            return descriptor
        time.sleep(_LOCK_PAUSE_SECONDS)
    return None


@contextmanager
def _held_on_server(database: Database, run_id: str) -> Iterator[None]:
    with database.own_connection() as connection:
        if not connection.scalar(text("SELECT pg_try_advisory_lock(:high, :low)"), _key(run_id)):
            raise _held_elsewhere(run_id)
        yield


def _is_held_on_server(database: Database, run_id: str) -> bool:
    query = (
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
        "AND classid = CAST(:high & 4294967295 AS oid) AND objid = CAST(:low & 4294967295 AS oid)"
    )
    with database.reading() as session:
        return bool(session.scalar(text(query), _key(run_id)))


def _key(run_id: str) -> dict[str, int]:
    digest = hashlib.sha256(run_id.encode()).digest()
    return {name: int.from_bytes(part, signed=True) for name, part in (("high", digest[:4]), ("low", digest[4:8]))}
