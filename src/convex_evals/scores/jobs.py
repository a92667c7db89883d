"""Data migrations as jobs: batch after batch, each one transaction, so that they can be killed and begun again at will.

Several processes may work on one: who runs a batch holds the job's row, and the others wait for theirs.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from convex_evals.scores.database import Database
from convex_evals.scores.migrations.data import DATA_MIGRATIONS, DataMigration
from convex_evals.scores.records import JobStatus
from convex_evals.scores.rows import DataMigrationRow

BATCH: Final = 200
OnBatch = Callable[[JobStatus], None]


class Jobs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def status(self) -> tuple[JobStatus, ...]:
        """Every data migration that a revision of these scores has asked for, the oldest first."""
        with self._database.reading() as session:
            return read_jobs(session)

    def run_all(self, batch: int = BATCH, on_batch: OnBatch = lambda _: None) -> None:
        """Whatever is unfinished of what these scores have asked for."""
        asked = {job.name for job in self.status()}
        for migration in DATA_MIGRATIONS:
            if migration.name in asked:
                self._run(migration, batch, on_batch)

    def _run(self, migration: DataMigration, batch: int, on_batch: OnBatch) -> None:
        while True:
            found, status = self._run_batch(migration, batch)
            if found:
                on_batch(status)
            if status.state == "done":
                return

    def _run_batch(self, migration: DataMigration, batch: int) -> tuple[int, JobStatus]:
        with self._database.writing() as session:
            row = session.get_one(DataMigrationRow, migration.name, with_for_update=True)
            began, now = time.monotonic(), datetime.now(UTC)
            found = migration.fill(session.connection(), batch)
            remaining = migration.count_pending(session.connection())
            row.done += found
            row.total, row.started_at, row.updated_at = row.done + remaining, row.started_at or now, now
            row.state, row.finished_at = ("running", None) if remaining else ("done", row.finished_at or now)
            row.worked_ms += (time.monotonic() - began) * 1000
            return found, _status(row)


def read_jobs(session: Session) -> tuple[JobStatus, ...]:
    rows = session.scalars(select(DataMigrationRow).order_by(DataMigrationRow.name))
    return tuple(_status(row) for row in rows)


def _status(row: DataMigrationRow) -> JobStatus:
    rate = row.done / row.worked_ms * 1000 if row.done and row.worked_ms else None
    return JobStatus(row.name, row.state, row.done, row.total, rate, row.started_at, row.updated_at, row.finished_at)
