"""Connections and transactions: the same on both engines, as far as the rest of this part can tell."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

from sqlalchemy import Connection, Engine, Pool, create_engine, event, literal
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from convex_evals.core.distribution import POSTGRES
from convex_evals.scores.faults import said_plainly
from convex_evals.scores.location import Location
from convex_evals.scores.rows import Row

BUSY_SECONDS: Final = 60
CONNECT_SECONDS: Final = 10
_WRITES: Final = "scores_writes"


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
        with said_plainly(self.location), Session(self._readers) as session, session.begin():
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """All or nothing; on disk when the block ends."""
        with said_plainly(self.location), self._turn, Session(self._writers) as session, session.begin():
            yield session

    @contextmanager
    def own_connection(self) -> Iterator[Connection]:
        """A PostgreSQL connection outside transactions, for as long as the block; what it holds goes with it."""
        with said_plainly(self.location), self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.detach()
            yield connection

    def close(self) -> None:
        self._engine.dispose()


def sqlite_engine(location: Location, *, foreign_keys: bool = True, pool: type[Pool] | None = None) -> Engine:
    engine = create_engine(location.url, connect_args={"timeout": BUSY_SECONDS}, poolclass=pool)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # transactions begin below, not where the driver guesses
        connection.execute(f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}")
        connection.execute("PRAGMA synchronous = FULL")  # answers cost money: keep them through a power cut

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and writes later could find the door shut; a writer takes its place at once.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def insert_if_new(session: Session, row: type[Row], **values: object) -> bool:
    """Whether it was new. Of two transactions that insert the same at once, the second waits for the first."""
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    statement = dialect.insert(row).values(**values).on_conflict_do_nothing()
    return session.execute(statement.returning(literal(1))).first() is not None


def for_writing(engine: Engine) -> Engine:
    return engine.execution_options(**{_WRITES: True})


def _postgresql_engine(location: Location) -> Engine:
    POSTGRES.require()
    arguments = {"connect_timeout": CONNECT_SECONDS, "application_name": "convex-evals"}
    return create_engine(location.url, connect_args=arguments, pool_pre_ping=True)


def _snapshots(engine: Engine) -> Engine:
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
