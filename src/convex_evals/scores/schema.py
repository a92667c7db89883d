"""The version of the tables: which one a database has, and bringing it to the one this code knows."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, NullPool, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.scores.database import BUSY_SECONDS, for_writing, sqlite_engine
from convex_evals.scores.faults import said_plainly
from convex_evals.scores.location import Location
from convex_evals.scores.records import SchemaCondition, Upgrade
from convex_evals.scores.rows import Row

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
    """Makes the tables or brings them up to date: completely or not at all, and only one process at a time."""
    with _alone(location) as connection:
        state = read_state(connection, revisions)
        refuse_unknown(state, location, revisions)
        backup = None
        if state.condition != "current":
            backup = _back_up(location, state)
            _migrate(connection, revisions)
            _check_references(connection)
    return Upgrade(location.shown, state.revision, revisions.head, backup)


@contextmanager
def _alone(location: Location) -> Iterator[Connection]:
    with said_plainly(location):
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


def _migrate(connection: Connection, revisions: Revisions) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(revisions.folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _check_references(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise InfrastructureError(f"The upgrade would have left table {broken[0]} damaged, so nothing was changed.")
