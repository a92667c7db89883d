"""Backups: all scores in one SQLite file. Either engine makes it, and either takes it back."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import LargeBinary, RowMapping, Select, Table, delete, func, insert, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.ids import new_id, prefix
from convex_evals.scores.database import Database, find_location
from convex_evals.scores.rows import (
    ChangeCountRow,
    DataMigrationRow,
    DeliveryRow,
    GenerationRow,
    ModelRow,
    OutboxRow,
    Row,
)
from convex_evals.scores.schema import database_status, open_current, upgrade_database

_LAST: Final = (DeliveryRow.__tablename__, OutboxRow.__tablename__)  # triggers would list what is copied after them
_NUMBERED: Final = (ModelRow.__tablename__, OutboxRow.__tablename__)
_ROWS: Final = 500
_LARGE_ROWS: Final = 16
OnRows = Callable[[int, int], None]
"""Called with the number of rows that are copied, and of all rows."""


def back_up(where: str | Path | None, file: Path, on_rows: OnRows = lambda done, total: None) -> int:
    """Copies everything as it is at one moment, and returns how many rows. The file appears when it is complete."""
    if file.exists():
        raise UsageError(f"{file} exists already; name a new file for the backup.")
    with open_current(where) as source, _unfinished(file) as unfinished:
        upgrade_database(unfinished)
        rows = _copy_all(source, unfinished, on_rows)
        unfinished.rename(file)
    return rows


def restore(where: str | Path | None, file: Path, on_rows: OnRows = lambda done, total: None) -> int:
    """Copies everything into a database that is missing or empty, completely or not at all."""
    if not file.is_file():
        raise UsageError(f"There is no backup {file}; name a file that `convex-evals db backup` has made.")
    condition = database_status(where).condition
    if condition == "older":
        raise _not_empty(find_location(where).shown)
    with _readable(file) as backup, open_current(backup) as source:
        if condition != "current":
            upgrade_database(where)
        return _copy_all(source, where, on_rows)


@contextmanager
def _unfinished(file: Path) -> Iterator[Path]:
    """A name beside the file. Whatever is left of it afterwards is removed."""
    path = file.with_name(f"{file.name}.{prefix(new_id())}.partial")
    try:
        yield path
    finally:
        for end in ("", "-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)


@contextmanager
def _readable(file: Path) -> Iterator[Path]:
    """The backup itself, or if an earlier version made it, a copy that is upgraded."""
    if database_status(file).condition != "older":
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "backup.db"
        shutil.copyfile(file, copy)
        upgrade_database(copy)
        yield copy


def _copy_all(source: Database, where: str | Path | None, on_rows: OnRows) -> int:
    target = Database(find_location(where))
    try:
        with source.reading() as old, target.writing() as new:
            _refuse_rows(new, target.location.shown)
            rows = _copy(old, new, on_rows)
        target.refresh_statistics()
        return rows
    except IntegrityError as error:
        raise InfrastructureError(
            f"{source.location.shown} is damaged: a record refers to one that is missing; `convex-evals db check` "
            "names it."
        ) from error
    finally:
        target.close()


def _refuse_rows(session: Session, shown: str) -> None:
    for table in Row.metadata.sorted_tables:
        own = table.name == DataMigrationRow.__tablename__
        if not own and session.execute(select(table).limit(1)).first() is not None:
            raise _not_empty(shown)


def _not_empty(shown: str) -> UsageError:
    return UsageError(
        f"{shown} is not empty, and a backup is restored only into a database that is; name another one with --scores."
    )


def _tables() -> Iterator[Table]:
    """All but the counts of changes: copying is a change, too, and is counted."""
    return (table for table in Row.metadata.sorted_tables if table.name != ChangeCountRow.__tablename__)


def _copy(old: Session, new: Session, on_rows: OnRows) -> int:
    tables = sorted(_tables(), key=lambda table: table.name in _LAST)
    total = sum(old.scalar(select(func.count()).select_from(table)) or 0 for table in tables)
    done = 0
    new.execute(delete(DataMigrationRow))
    for table in tables:
        with _batches(old, table) as batches:
            for rows in batches:
                new.execute(insert(table), [dict(row) for row in rows])
                done += len(rows)
                on_rows(done, total)
    _go_on_numbering(new)
    return done


@contextmanager
def _batches(session: Session, table: Table) -> Iterator[Iterator[Sequence[RowMapping]]]:
    large = any(isinstance(column.type, LargeBinary) for column in table.columns)
    query = _in_order(table).execution_options(yield_per=_LARGE_ROWS if large else _ROWS)
    with session.execute(query) as result:
        yield result.mappings().partitions()


def _in_order(table: Table) -> Select[Any]:
    if table.name == GenerationRow.__tablename__:  # those that others have used again come first
        return select(table).order_by(table.c.reused_from.is_not(None), *table.primary_key.columns)
    return select(table).order_by(*table.primary_key.columns)


def _go_on_numbering(session: Session) -> None:
    """A server counts on its own, not from the largest number."""
    if session.get_bind().dialect.name == "postgresql":
        for table in _NUMBERED:
            largest = f"(SELECT max(id) FROM {table})"
            session.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {largest})"))
