"""Data migrations: they fill, a batch at a time, what one revision has added and a later one demands.

Each is in SQL of its own: tables may have changed since, and it meets them as its revision left them.
"""

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from convex_evals.core.errors import UsageError
from convex_evals.core.text import count


@dataclass(frozen=True, slots=True)
class DataMigration:
    """Sets `values` in the rows of `table` where `pending` holds, after which it no longer does."""

    name: str  # begins with the number of its revision
    table: str
    key: str
    pending: str
    values: str

    @property
    def revision(self) -> str:
        """The one that adds what is filled. Both it and the code before it work with columns that are empty."""
        return self.name[:4]

    def count_pending(self, connection: sa.Connection) -> int:
        return connection.scalar(sa.text(f"SELECT count(*) FROM {self.table} WHERE {self.pending}")) or 0

    def fill(self, connection: sa.Connection, batch: int) -> int:
        """The next rows, at most `batch` of them. Returns how many they were."""
        locked = "FOR UPDATE" if connection.dialect.name == "postgresql" else ""
        chosen = f"SELECT {self.key} FROM {self.table} WHERE {self.pending} ORDER BY {self.key} LIMIT :batch {locked}"
        keys = connection.scalars(sa.text(chosen), {"batch": batch}).all()
        filling = sa.text(f"UPDATE {self.table} SET {self.values} WHERE {self.key} IN :keys")
        if keys:
            connection.execute(filling.bindparams(sa.bindparam("keys", expanding=True)), {"keys": keys})
        return len(keys)


def register(connection: sa.Connection, migration: DataMigration) -> None:
    """For the revision that adds the columns."""
    total = migration.count_pending(connection)
    row = {"name": migration.name, "state": "pending" if total else "done", "done": 0, "total": total, "worked_ms": 0}
    jobs = sa.table("data_migrations", *(sa.column(name) for name in row))
    connection.execute(sa.insert(jobs).values(row))


def refuse_while_pending(connection: sa.Connection, migration: DataMigration) -> None:
    """For the revision that demands the columns."""
    pending = migration.count_pending(connection)
    if pending:
        raise UsageError(
            f"The data migration {migration.name} is unfinished ({count(pending, 'row')} to go), and this version "
            "cannot use these scores before it is done; run `convex-evals db migrate`."
        )


# Counts of runs that finished before runs kept them.
_LATEST: Final = """
    (SELECT count(*) FROM attempts a WHERE a.run_id = runs.id AND a.status = '{status}' AND NOT EXISTS (
        SELECT 1 FROM attempts later WHERE later.run_id = a.run_id AND later.eval = a.eval AND later.trial = a.trial
        AND later.number > a.number AND later.status IN ('passed', 'failed', 'skipped', 'infrastructure')))"""
_EVALS: Final = "(SELECT count(*) FROM planned_evals p WHERE p.run_id = runs.id)"
_EXTRA: Final = "(SELECT count(*) FROM extra_trials e WHERE e.run_id = runs.id)"

COUNT_FINISHED_RUNS: Final = DataMigration(
    name="0010_count_finished_runs",
    table="runs",
    key="id",
    pending="finished_at IS NOT NULL AND (counted_at IS NULL OR counted_at <> finished_at)",
    values=", ".join(
        (
            *(f"{status} = {_LATEST.format(status=status)}" for status in ("passed", "failed", "skipped")),
            f"infrastructure = {_LATEST.format(status='infrastructure')}",
            f"evals = {_EVALS}",
            f"total = {_EVALS} * trials + {_EXTRA}",
            "counted_at = finished_at",
        )
    ),
)

DATA_MIGRATIONS: Final[tuple[DataMigration, ...]] = (COUNT_FINISHED_RUNS,)
