"""What is going on, in a few small statements: whether something happened since the last look, and what."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import func, or_, select

from convex_evals.scores.database import Database
from convex_evals.scores.records import RunStatus
from convex_evals.scores.rows import AttemptRow, ChangeCountRow, RunRow, StepRow

LATEST: Final = 20
ChangeKind = Literal["run created", "run finished", "run resumed", "attempt begun", "attempt finished", "step finished"]


@dataclass(frozen=True, slots=True)
class Change:
    kind: ChangeKind
    run: str


@dataclass(frozen=True, slots=True)
class RunPulse:
    """How far a run is."""

    status: RunStatus
    begun: int = 0
    finished: int = 0
    steps: int = 0  # of attempts under way


Pulse = Mapping[str, RunPulse]


class Changes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self) -> int:
        """How many changes of runs and benchmark versions there were: another number after whatever is recorded."""
        with self._database.reading() as session:
            return int(session.scalar(select(func.sum(ChangeCountRow.number))) or 0)

    def pulse(self) -> Pulse:
        """Of the runs that are running, and of those that were begun last."""
        latest = select(RunRow.id).order_by(RunRow.started_at.desc()).limit(LATEST)
        progress = (
            select(RunRow.id, RunRow.status, func.count(AttemptRow.id), func.count(AttemptRow.finished_at))
            .outerjoin(AttemptRow, AttemptRow.run_id == RunRow.id)
            .where(RunRow.hidden.is_(False), or_(RunRow.status == "running", RunRow.id.in_(latest)))
            .group_by(RunRow.id, RunRow.status)
        )
        under_way = (
            select(AttemptRow.run_id, func.count())
            .join(StepRow, StepRow.attempt_id == AttemptRow.id)
            .where(AttemptRow.status == "running")
            .group_by(AttemptRow.run_id)
        )
        with self._database.reading() as session:
            steps = {row[0]: row[1] for row in session.execute(under_way)}
            found = session.execute(progress).all()
        return {
            run_id: RunPulse(status, begun, finished, steps.get(run_id, 0)) for run_id, status, begun, finished in found
        }


def differences(before: Pulse, after: Pulse) -> Iterator[Change]:
    """What happened in between, as far as the two states show."""
    for run_id, now in after.items():
        then = before.get(run_id)
        if then is None:
            yield Change("run created", run_id)
            continue
        if now.begun > then.begun:
            yield Change("attempt begun", run_id)
        if now.steps != then.steps and now.finished == then.finished:
            yield Change("step finished", run_id)
        if now.finished > then.finished:
            yield Change("attempt finished", run_id)
        if now.status != then.status:
            yield Change("run resumed" if now.status == "running" else "run finished", run_id)
