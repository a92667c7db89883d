"""How long a run was worked on: from begin to end, added up over the times it was resumed."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from convex_evals.scores.rows import AttemptRow, GenerationRow, StepRow, WorkPeriodRow


def begin_period(session: Session, run_id: str) -> None:
    number = session.scalar(select(func.count()).where(WorkPeriodRow.run_id == run_id)) or 0
    session.add(WorkPeriodRow(run_id=run_id, number=number + 1, started_at=datetime.now(UTC)))


def end_period(session: Session, run_id: str, ended_at: datetime | None) -> None:
    """Of the one that is open, if there is one. It never ends before it began."""
    is_open = (WorkPeriodRow.run_id == run_id, WorkPeriodRow.ended_at.is_(None))
    for row in session.scalars(select(WorkPeriodRow).where(*is_open)):
        row.ended_at = max(row.started_at, ended_at or row.started_at)
    session.flush()


def last_sign_of_work(session: Session, run_id: str) -> datetime | None:
    """A process that was killed says nothing, so what it recorded last is taken for its end."""
    attempts = (AttemptRow.run_id == run_id, AttemptRow.status != "interrupted")
    of_run = select(AttemptRow.id).where(AttemptRow.run_id == run_id)
    moments = (
        session.scalar(select(func.max(AttemptRow.started_at)).where(AttemptRow.run_id == run_id)),
        session.scalar(select(func.max(AttemptRow.finished_at)).where(*attempts)),
        session.scalar(select(func.max(GenerationRow.recorded_at)).where(GenerationRow.attempt_id.in_(of_run))),
        session.scalar(select(func.max(StepRow.recorded_at)).where(StepRow.attempt_id.in_(of_run))),
    )
    return max((moment for moment in moments if moment is not None), default=None)


def read_worked(session: Session, run_ids: Select[str]) -> defaultdict[str, timedelta]:
    """By run, what is over; the period that is under way is not in it."""
    over = select(WorkPeriodRow).where(WorkPeriodRow.run_id.in_(run_ids), WorkPeriodRow.ended_at.is_not(None))
    worked: defaultdict[str, timedelta] = defaultdict(timedelta)
    for row in session.scalars(over):
        if row.ended_at is not None:
            worked[row.run_id] += row.ended_at - row.started_at
    return worked
