"""Databases as a whole: what state one is in, and bringing it up to date."""

from pathlib import Path

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from convex_evals.core.errors import InfrastructureError
from convex_evals.scores.database import Database
from convex_evals.scores.location import Location, find_location
from convex_evals.scores.records import DatabaseStatus, Upgrade
from convex_evals.scores.rows import ArtifactRow, AttemptRow, Row, RunRow
from convex_evals.scores.schema import REVISIONS, Revisions, SchemaState, read_state, upgrade_schema


def database_status(where: str | Path | None = None, revisions: Revisions = REVISIONS) -> DatabaseStatus:
    """Looks, and changes nothing."""
    location = find_location(where)
    if location.path is not None and not location.path.exists():
        return DatabaseStatus(location.shown, "missing", None, revisions.head)
    database = Database(location)
    try:
        with database.reading() as session:
            return _status(session, location, revisions)
    finally:
        database.close()


def upgrade_database(where: str | Path | None = None, revisions: Revisions = REVISIONS) -> Upgrade:
    """Makes the database if there is none. An older SQLite file is copied first."""
    location = find_location(where)
    make_folder(location)
    return upgrade_schema(location, revisions)


def make_folder(location: Location) -> None:
    if location.path is None:
        return
    try:
        location.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(
            f"The folder of {location.shown} cannot be made ({error.strerror}); name another place for the scores."
        ) from error


def _status(session: Session, location: Location, revisions: Revisions) -> DatabaseStatus:
    state = read_state(session.connection(), revisions)
    size = _size(session, location)
    runs, attempts, artifacts = _numbers(session, state)
    return DatabaseStatus(
        location.shown, state.condition, state.revision, revisions.head, size, runs, attempts, artifacts
    )


def _numbers(session: Session, state: SchemaState) -> tuple[int, ...]:
    tables: tuple[type[Row], ...] = (RunRow, AttemptRow, ArtifactRow)
    if state.condition not in ("current", "older"):
        return (0,) * len(tables)
    return tuple(session.scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def _size(session: Session, location: Location) -> int:
    if location.path is None:
        return session.scalar(text("SELECT pg_database_size(current_database())")) or 0
    files = (location.path, location.path.with_name(f"{location.path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
