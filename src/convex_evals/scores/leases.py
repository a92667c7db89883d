"""Leases: which runner records a run here. One that is not heard from loses its lease, and the run says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from convex_evals.core.errors import LeaseError
from convex_evals.core.ids import prefix
from convex_evals.scores.counts import keep_counts
from convex_evals.scores.database import Database, insert_if_new
from convex_evals.scores.rows import LeaseRow, RunRow

LEASE: Final = timedelta(seconds=90)
RENEWAL_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Holder:
    """A runner's database, in which only one process works on a run at a time. `host` is for people."""

    id: str
    host: str


class Leases:
    def __init__(self, database: Database, lease: timedelta = LEASE) -> None:
        self._database, self._lease = database, lease

    def renew(self, runs: Sequence[str], holder: Holder) -> None:
        """Raises LeaseError when another runner has one of them."""
        with self._database.writing() as session:
            for run_id in sorted(runs):
                if session.get(RunRow, run_id) is not None:
                    renew(session, run_id, holder, self._lease)

    def is_held(self, run_id: str) -> bool:
        """Whether a runner elsewhere was heard from recently."""
        with self._database.reading() as session:
            row = session.get(LeaseRow, run_id)
            return row is not None and row.ends_at > datetime.now(UTC)

    def end_overdue(self) -> tuple[str, ...]:
        """Marks the runs whose runners are gone, and returns them."""
        now = datetime.now(UTC)
        overdue = select(LeaseRow).where(LeaseRow.ends_at < now, LeaseRow.ended.is_(False))
        with self._database.writing() as session:
            rows = session.scalars(overdue.order_by(LeaseRow.run_id).with_for_update(skip_locked=True)).all()
            return tuple(row.run_id for row in rows if _end(session, row))


def renew(session: Session, run_id: str, holder: Holder, lease: timedelta = LEASE) -> None:
    """The same for one run, which exists here, within a transaction. A run that was marked as stopped goes on."""
    now = datetime.now(UTC)
    values = {"holder": holder.id, "host": holder.host, "renewed_at": now, "ends_at": now + lease, "ended": False}
    if insert_if_new(session, LeaseRow, run_id=run_id, **values):
        return
    row = session.get_one(LeaseRow, run_id, with_for_update=True, populate_existing=True)
    if row.holder != holder.id and row.ends_at > now:
        raise _held(row)
    revive(session, run_id)
    for name, value in values.items():
        setattr(row, name, value)


def revive(session: Session, run_id: str) -> None:
    """Whatever its runner says now is true; that it was gone was only a guess."""
    row = session.get(LeaseRow, run_id, with_for_update=True, populate_existing=True)
    if row is not None and row.ended:
        run = session.get_one(RunRow, run_id, with_for_update=True)
        run.status, run.reason, run.finished_at, run.counted_at = "running", None, None, None
        row.ended = False
        session.flush()


def give_up(session: Session, run_id: str, holder: Holder) -> None:
    """A run that is over needs no lease."""
    row = session.get(LeaseRow, run_id)
    if row is not None and row.holder == holder.id:
        session.delete(row)


def _end(session: Session, row: LeaseRow) -> bool:
    run = session.get(RunRow, row.run_id, with_for_update=True)
    if run is None or run.status != "running":
        session.delete(row)
        return False
    keep_counts(session, run, row.renewed_at)
    run.status, run.finished_at = "stopped", row.renewed_at
    run.reason = f"nothing was heard from its runner ({row.host}) since {row.renewed_at:%Y-%m-%d %H:%M} UTC"
    row.ended = True
    return True


def _held(row: LeaseRow) -> LeaseError:
    return LeaseError(
        f"Run {prefix(row.run_id)} is being recorded by another runner ({row.host}), last heard from at "
        f"{row.renewed_at:%H:%M:%S} UTC; stop one of the two."
    )
