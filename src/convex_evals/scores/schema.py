"""The schema of a database: which revision it has, and bringing it up to date."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, NullPool, create_engine, func, inspect, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.scores.database import (
    BUSY_SECONDS,
    Database,
    Location,
    find_location,
    for_writing,
    readable_errors,
    sqlite_engine,
)
from convex_evals.scores.jobs import BATCH, Jobs, OnBatch, read_jobs
from convex_evals.scores.migrations.data import DATA_MIGRATIONS
from convex_evals.scores.records import DatabaseStatus, JobStatus, SchemaCondition, Upgrade
from convex_evals.scores.rows import ArtifactRow, AttemptRow, DataMigrationRow, Row, RunRow

VERSION_TABLE: Final = "scores_version"
MIGRATIONS: Final = Path(__file__).parent / "migrations"
_UPGRADE_LOCK: Final = 0x636F_6E76_6578  # any number, as long as it is always the same
_RETRY_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Revisions:
    """The history of the tables: files `versions/vNNNN_what.py`, one after the other, without branches."""

    folder: Path = MIGRATIONS

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(sorted(path.stem[1:5] for path in (self.folder / "versions").glob("v*.py")))

    @property
    def head(self) -> str:
        return self.known[-1]

    @property
    def pauses(self) -> tuple[str, ...]:
        """Where an upgrade pauses for a data migration."""
        return tuple(each.revision for each in DATA_MIGRATIONS if each.revision <= self.head)

    @property
    def stages(self) -> tuple[str, ...]:
        return (*(revision for revision in self.pauses if revision != self.head), self.head)


REVISIONS: Final = Revisions()


@dataclass(frozen=True, slots=True)
class SchemaState:
    condition: SchemaCondition
    revision: str | None


def read_state(connection: Connection, revisions: Revisions) -> SchemaState:
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables:
        # A file is ours alone; a server's database may hold other tables, as long as none is in the way.
        foreign = tables if connection.dialect.name == "sqlite" else tables & set(Row.metadata.tables)
        return SchemaState("foreign" if foreign else "empty", None)
    revision = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))
    if revision not in revisions.known:
        return SchemaState("newer", revision)
    return SchemaState("current" if revision == revisions.head else "older", revision)


def refuse_unknown(state: SchemaState, location: Location, revisions: Revisions) -> None:
    if state.condition == "newer":
        raise UsageError(
            f"{location.shown} was written by a newer convex-evals (its tables have version {state.revision}, this one "
            f"knows {revisions.head}); update convex-evals, or name another database."
        )
    if state.condition == "foreign":
        raise UsageError(f"{location.shown} holds the tables of something else; name another database.")


def upgrade_schema(location: Location, revisions: Revisions = REVISIONS) -> Upgrade:
    """Makes the tables or brings them up to date, only one process at a time.

    From one data migration to the next completely or not at all. A file runs them itself; a server's are a decision of
    people, so a revision that needs one refuses until it is done.
    """
    steps: list[Upgrade] = []
    for target in revisions.stages:
        steps.append(_upgrade_to(location, revisions, target, keep_copy=not any(step.changed for step in steps)))
        if location.path is not None and target != revisions.head:
            _fill_file(location)
    backup = next((step.backup for step in steps if step.backup), None)
    return Upgrade(location.shown, steps[0].before, revisions.head, backup)


def migrate_data(
    where: str | Path | None = None,
    batch: int = BATCH,
    on_batch: OnBatch = lambda _: None,
    revisions: Revisions = REVISIONS,
) -> tuple[JobStatus, ...]:
    """Runs every data migration, and the revisions before the last of them. Returns how they stand."""
    location = find_location(where)
    database = Database(location)
    try:
        for target in revisions.pauses:
            _upgrade_to(location, revisions, target)
            Jobs(database).run_all(batch, on_batch)
        return Jobs(database).status()
    finally:
        database.close()


def _upgrade_to(location: Location, revisions: Revisions, target: str, *, keep_copy: bool = True) -> Upgrade:
    with _exclusive_connection(location) as connection:
        state = read_state(connection, revisions)
        refuse_unknown(state, location, revisions)
        before, backup = state.revision or "", None
        if before < target:
            backup = _back_up(location, state) if keep_copy else None
            _migrate(connection, revisions, target)
            _check_references(connection)
    return Upgrade(location.shown, state.revision, max(before, target), backup)


def _fill_file(location: Location) -> None:
    database = Database(location)
    try:
        Jobs(database).run_all()
    finally:
        database.close()


@contextmanager
def _exclusive_connection(location: Location) -> Iterator[Connection]:
    with readable_errors(location):
        if location.path is not None:
            _use_write_ahead_log(location.path)
            # Alembic rebuilds tables to change them, which foreign keys would take for deleting all rows.
            engine = for_writing(sqlite_engine(location, foreign_keys=False, pool=NullPool))
        else:
            engine = create_engine(location.url, poolclass=NullPool)
        with engine.begin() as connection:
            if location.path is None:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
            yield connection


def _use_write_ahead_log(path: Path) -> None:
    """Readers and a writer do not wait for one another. The file remembers it."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.Error as error:
            # SQLite does not wait here when another process is opening the same new file.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise DBAPIError("PRAGMA journal_mode = WAL", None, error) from error
        finally:
            connection.close()
        time.sleep(_RETRY_SECONDS)


def _back_up(location: Location, state: SchemaState) -> Path | None:
    if location.path is None or state.condition != "older":
        return None
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    backup = location.path.with_name(f"{location.path.stem}-{state.revision}-{moment}.backup.db")
    unfinished = backup.with_suffix(".partial")
    source = sqlite3.connect(location.path, timeout=BUSY_SECONDS)
    try:
        source.execute("VACUUM INTO ?", (str(unfinished),))
    except sqlite3.Error as error:
        unfinished.unlink(missing_ok=True)
        raise InfrastructureError(f"{location.shown} could not be backed up before its upgrade: {error}.") from error
    finally:
        source.close()
    unfinished.rename(backup)
    return backup


def _migrate(connection: Connection, revisions: Revisions, target: str) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(revisions.folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)


def _check_references(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise InfrastructureError(f"The upgrade would have left table {broken[0]} damaged, so nothing was changed.")


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


@contextmanager
def open_current(where: str | Path | None = None, revisions: Revisions = REVISIONS) -> Iterator[Database]:
    """Scores that are there and up to date. Nothing is made, and nothing is upgraded."""
    found, location = database_status(where, revisions), find_location(where)
    refuse_unknown(SchemaState(found.condition, found.revision), location, revisions)
    if found.condition == "older":
        raise UsageError(
            f"{found.location} has tables of version {found.revision}, and this needs {found.head}; run `convex-evals "
            "db upgrade` first."
        )
    if found.condition != "current":
        raise UsageError(f"There are no scores in {found.location}; name a database that has some.")
    database = Database(location)
    try:
        yield database
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
    jobs = read_jobs(session) if inspect(session.connection()).has_table(DataMigrationRow.__tablename__) else ()
    return DatabaseStatus(
        location.shown,
        state.condition,
        state.revision,
        revisions.head,
        size,
        runs,
        attempts,
        artifacts,
        jobs,
        _later_jobs(state),
    )


def _later_jobs(state: SchemaState) -> tuple[str, ...]:
    later = (each.name for each in DATA_MIGRATIONS if state.revision is not None and state.revision < each.revision)
    return tuple(later) if state.condition == "older" else ()


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
