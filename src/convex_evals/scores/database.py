"""One database, SQLite or PostgreSQL: where it is, which deployment it belongs to, its transactions, and its errors."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, Connection, Engine, Pool, create_engine, event, literal, make_url, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from convex_evals.core.distribution import POSTGRES
from convex_evals.core.errors import ConvexEvalsError, InfrastructureError, UsageError
from convex_evals.scores.grants import UNMARKED
from convex_evals.scores.rows import DeploymentRow, Row

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

DEFAULT: Final = Path("scores") / "scores.db"
_POSTGRESQL: Final = ("postgresql", "postgres", "postgresql+psycopg")
_SQLITE: Final = ("sqlite", "sqlite+pysqlite")
_EXPECTED: Final = "Expected a file such as scores.db or a URL such as postgresql://user@host/scores"
_RESUME: Final = "what was recorded before is safe"
_SQLITE_TROUBLE: Final = {
    sqlite3.SQLITE_FULL: f"The disk with {{where}} is full; free some space and go on: {_RESUME}.",
    sqlite3.SQLITE_BUSY: "{where} was locked by another process for too long; try again when that one is done.",
    sqlite3.SQLITE_READONLY: "{where} may not be written to; change its permissions or name another file.",
    sqlite3.SQLITE_PERM: "{where} may not be accessed; change its permissions or name another file.",
    sqlite3.SQLITE_CANTOPEN: "{where} cannot be opened; check that its folder exists and may be written to.",
    sqlite3.SQLITE_IOERR: f"The disk with {{where}} could not be read or written; check it: {_RESUME}.",
    sqlite3.SQLITE_CORRUPT: "{where} is damaged; restore it from a backup, or name another file.",
}
_POSTGRESQL_TROUBLE: Final = {
    "53100": f"The disk of {{where}} is full; free some space and go on: {_RESUME}.",
    "25006": "{where} may not be written to; connect to a server that is not a read-only copy.",
    "42501": "{where} does not let this user do that; ask for the rights to create and change tables in it.",
}
_SHUTDOWN: Final = ("08", "53", "57")  # connection lost, out of resources, operator intervention
BUSY_SECONDS: Final = 60
CONNECT_SECONDS: Final = 10
KEPT_CONNECTIONS: Final = 5
MOST_CONNECTIONS: Final = 30
"""Of one process to PostgreSQL: more than there are threads at work in a server, so that none waits for another."""
_WRITES: Final = "scores_writes"


@dataclass(frozen=True, slots=True)
class Location:
    """`shown` is for people; the URL may hold a password and never leaves this part."""

    url: URL = field(repr=False)
    path: Path | None
    shown: str


def find_location(given: str | Path | None = None) -> Location:
    """Reads a path or a URL; without one the scores are in ./scores/scores.db. Raises UsageError."""
    if given is None:
        return _file(DEFAULT)
    if isinstance(given, Path) or "://" not in given:
        return _file(Path(given))
    try:
        url = make_url(given)
    except (ArgumentError, ValueError) as error:
        # The text may hold a password, so it is not quoted.
        raise UsageError(f"{_EXPECTED}, found a URL that cannot be read.") from error
    return _from_url(url, given)


def _from_url(url: URL, given: str) -> Location:
    if url.drivername in _POSTGRESQL:
        return Location(url.set(drivername="postgresql+psycopg"), None, url.render_as_string(hide_password=True))
    if url.drivername not in _SQLITE:
        raise UsageError(f"{_EXPECTED}, found a URL that begins with '{url.drivername}://'.")
    if url.query or not url.database or url.database == ":memory:":
        raise UsageError(f"{_EXPECTED}, found '{given}', which names no file.")
    return _file(Path(url.database))


def _file(path: Path) -> Location:
    absolute = path.absolute()
    if absolute.is_dir():
        raise UsageError(f"{_EXPECTED}, found the folder '{path}'.")
    return Location(URL.create("sqlite", database=str(absolute)), absolute, str(path))


@contextmanager
def readable_errors(location: Location) -> Iterator[None]:
    """Turns trouble of the database into errors for the user. What remains is a bug and passes."""
    try:
        yield
    except DBAPIError as error:
        sentence = _sentence(error, location)
        if sentence is None:
            raise
        raise sentence from error
    except PoolTimeoutError as error:
        raise InfrastructureError(f"{location.shown} is too busy to answer; try again later.") from error


def _sentence(error: DBAPIError, location: Location) -> ConvexEvalsError | None:
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(getattr(cause, "sqlite_errorcode", 0) & 0xFF, location)
    return _of_postgresql(error, location)


def _of_sqlite(code: int, location: Location) -> ConvexEvalsError | None:
    if code == sqlite3.SQLITE_NOTADB:
        return UsageError(f"{location.shown} is not a database; name another file.")
    text = _SQLITE_TROUBLE.get(code)
    return InfrastructureError(text.format(where=location.shown)) if text else None


def _of_postgresql(error: DBAPIError, location: Location) -> ConvexEvalsError | None:
    state = getattr(error.orig, "sqlstate", None)
    text = _POSTGRESQL_TROUBLE.get(state or "")
    if text:
        return InfrastructureError(text.format(where=location.shown))
    lines = str(error.orig).strip().splitlines() or ["no reason given"]
    if state is None or error.connection_invalidated or state.startswith(_SHUTDOWN):
        return InfrastructureError(f"{location.shown} cannot be reached: {lines[0].rstrip('.')}; try again later.")
    return None


class Database:
    """One database. Safe to use from several threads, and from several processes that each have their own."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.is_sqlite = location.path is not None
        self._engine = sqlite_engine(location) if self.is_sqlite else _postgresql_engine(location)
        self._readers = self._engine if self.is_sqlite else _snapshots(self._engine)
        self._writers = self._engine.execution_options(**{_WRITES: True})
        # SQLite lets one writer in at a time, and makes the others ask again and again; threads can simply queue.
        self._turn: AbstractContextManager[Any] = threading.Lock() if self.is_sqlite else nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """One consistent view, however many queries."""
        with readable_errors(self.location), Session(self._readers) as session, session.begin():
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """All or nothing; on disk when the block ends."""
        with readable_errors(self.location), self._turn, Session(self._writers) as session, session.begin():
            yield session

    @contextmanager
    def own_connection(self) -> Iterator[Connection]:
        """A PostgreSQL connection outside transactions, for as long as the block; what it holds goes with it."""
        with readable_errors(self.location), self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.detach()
            yield connection

    def refresh_statistics(self) -> None:
        """After very many rows came at once: a server counts them in its own time, and plans badly until then."""
        if not self.is_sqlite:
            with self.own_connection() as connection:
                connection.exec_driver_sql(f"ANALYZE {', '.join(Row.metadata.tables)}")

    def close(self) -> None:
        self._engine.dispose()


def sqlite_engine(location: Location, *, foreign_keys: bool = True, pool: type[Pool] | None = None) -> Engine:
    engine = create_engine(_openable(location), connect_args={"timeout": BUSY_SECONDS}, poolclass=pool)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # transactions begin below, not where the driver guesses
        connection.execute(f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}")
        connection.execute("PRAGMA synchronous = FULL")  # answers cost money: keep them through a power cut

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and writes later could be refused the lock; a writer takes it at once.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _openable(location: Location) -> URL:
    """SQLite needs files beside the database even to read it, unless it is told that nobody can change it."""
    path = location.path
    assert path is not None
    write_ahead_log = path.with_name(f"{path.name}-wal")
    if not path.exists() or write_ahead_log.exists() or os.access(path, os.W_OK) or os.access(path.parent, os.W_OK):
        return location.url
    return URL.create("sqlite", database=path.as_uri(), query={"immutable": "1", "uri": "true"})


def insert_if_new(session: Session, row: type[Row], **values: object) -> bool:
    """Whether it was new. Of two transactions that insert the same at once, the second waits for the first."""
    statement = upserting(session, row).values(**values).on_conflict_do_nothing()
    return session.execute(statement.returning(literal(1))).first() is not None


def upserting(session: Session, row: type[Row]) -> "sqlite.Insert | postgresql.Insert":
    """An INSERT that can say what happens if the row is there already."""
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(row)
    from sqlalchemy.dialects import postgresql  # loads all of its drivers

    return postgresql.insert(row)


def for_writing(engine: Engine) -> Engine:
    return engine.execution_options(**{_WRITES: True})


def _postgresql_engine(location: Location) -> Engine:
    POSTGRES.require()
    arguments = {"connect_timeout": CONNECT_SECONDS, "application_name": "convex-evals"}
    pool = {"pool_size": KEPT_CONNECTIONS, "max_overflow": MOST_CONNECTIONS - KEPT_CONNECTIONS}
    return create_engine(location.url, connect_args=arguments, pool_pre_ping=True, **pool)


def _snapshots(engine: Engine) -> Engine:
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    """Every statement that any store of this process sends meanwhile."""
    statements: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)


class Deployment:
    def __init__(self, database: Database) -> None:
        self._database = database

    def name(self) -> str:
        with self._database.reading() as session:
            return read_deployment(session)

    def mark(self, name: str) -> None:
        """Once and for all: scores of one deployment never become those of another. Raises UsageError."""
        with self._database.writing() as session:
            insert_if_new(session, DeploymentRow, id=1, name=name, marked_at=datetime.now(UTC))
            marked = read_deployment(session)
        if marked != name:
            raise UsageError(f"These scores are marked {marked!r} and cannot become {name!r}; name another database.")


def read_deployment(session: Session) -> str:
    return session.scalar(select(DeploymentRow.name)) or UNMARKED
