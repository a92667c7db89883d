"""Decisions about runs: hidden, shown again, marked with a label, deleted. Each is recorded with who, why and when.

The record outlives the run: the triggers of the database let the rows of a run go only when it says so.
"""

from datetime import UTC, datetime

from sqlalchemy import ColumnElement, delete, exists, insert, or_, select, union
from sqlalchemy.orm import Session, aliased

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import new_id, prefix
from convex_evals.scores.database import Database, insert_if_new
from convex_evals.scores.records import RunDecision, RunDecisionKind
from convex_evals.scores.rows import (
    ArtifactChunkRow,
    ArtifactRow,
    AttemptRow,
    DiagnosticRow,
    ExtraTrialRow,
    GenerationRow,
    LabelRow,
    ModelRow,
    PlannedEvalRow,
    PruningRow,
    ReleasedArtifactRow,
    RunDecisionRow,
    RunRow,
    StepRow,
    TestResultRow,
    UsageRow,
    WorkPeriodRow,
)
from convex_evals.scores.runs import locked_run

_OF_ATTEMPTS = (DiagnosticRow, TestResultRow, StepRow, GenerationRow, UsageRow)
_OF_RUN = (LabelRow, AttemptRow, ExtraTrialRow, WorkPeriodRow, PlannedEvalRow)


class Decisions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of_run(self, run_id: str) -> tuple[RunDecision, ...]:
        """Oldest first; also of a run that is deleted."""
        query = select(RunDecisionRow).where(RunDecisionRow.run_id == run_id)
        with self._database.reading() as session:
            rows = session.scalars(query.order_by(RunDecisionRow.made_at, RunDecisionRow.id))
            return tuple(_record(row) for row in rows)

    def hide(self, run_id: str, who: str, why: str) -> RunDecision:
        """Lists and leaderboards leave it out; whoever has its id still finds it."""
        return self._show(run_id, True, who, why)

    def unhide(self, run_id: str, who: str, why: str) -> RunDecision:
        return self._show(run_id, False, who, why)

    def label(self, run_id: str, label: str, who: str, why: str) -> RunDecision:
        if not label.strip():
            raise UsageError("A label must be a word, such as baseline; it is empty.")
        with self._database.writing() as session:
            row = locked_run(session, run_id)
            if label in row.labels:
                raise UsageError(f"Run {prefix(run_id)} has the label {label!r} already.")
            row.labels = [*row.labels, label]
            return _decide(session, run_id, "label", who, why, label)

    def unlabel(self, run_id: str, label: str, who: str, why: str) -> RunDecision:
        with self._database.writing() as session:
            row = locked_run(session, run_id)
            if label not in row.labels:
                raise UsageError(f"Run {prefix(run_id)} has no label {label!r}.")
            row.labels = [each for each in row.labels if each != label]
            return _decide(session, run_id, "unlabel", who, why, label)

    def delete(self, run_id: str, who: str, why: str) -> RunDecision:
        """Everything about the run but this record. Its artifacts go when they are pruned."""
        with self._database.writing() as session:
            row = locked_run(session, run_id)
            _refuse_reused(session, run_id)
            made = _decide(session, run_id, "delete", who, why, _description(session, row))
            _release_artifacts(session, made)
            _delete_rows(session, run_id)
            return made

    def prune(self, who: str, why: str) -> int:
        """Removes the artifacts of deleted runs that no other run has, and says how many they were."""
        _need_reason(why)
        with self._database.writing() as session:
            released = select(ReleasedArtifactRow.sha256)
            # Locked, so that nobody who is about to refer to one finds it and then loses it.
            free = select(ArtifactRow.sha256).where(ArtifactRow.sha256.in_(released), ~_is_used()).with_for_update()
            found = session.scalars(free).all()
            for sha256 in found:
                session.execute(delete(ArtifactChunkRow).where(ArtifactChunkRow.sha256 == sha256))
                session.execute(delete(ArtifactRow).where(ArtifactRow.sha256 == sha256))
            session.execute(delete(ReleasedArtifactRow))
            values = {"id": new_id(), "artifacts": len(found), "who": who, "why": why, "made_at": datetime.now(UTC)}
            session.execute(insert(PruningRow).values(**values))
        return len(found)

    def _show(self, run_id: str, hidden: bool, who: str, why: str) -> RunDecision:
        with self._database.writing() as session:
            row = locked_run(session, run_id)
            if row.hidden == hidden:
                raise UsageError(f"Run {prefix(run_id)} is {'hidden already' if hidden else 'not hidden'}.")
            row.hidden = hidden
            return _decide(session, run_id, "hide" if hidden else "unhide", who, why)


def _decide(
    session: Session, run_id: str, kind: RunDecisionKind, who: str, why: str, about: str | None = None
) -> RunDecision:
    _need_reason(why)
    row = RunDecisionRow(
        id=new_id(), run_id=run_id, kind=kind, about=about, who=who, why=why.strip(), made_at=datetime.now(UTC)
    )
    session.add(row)
    session.flush()
    return _record(row)


def _need_reason(why: str) -> None:
    if not why.strip():
        raise UsageError("A decision about a run needs a reason; say it with --why.")


def _refuse_reused(session: Session, run_id: str) -> None:
    """Answers of this run that another run has graded again are that run's evidence, too."""
    source = aliased(AttemptRow)
    reusing = (
        select(AttemptRow.run_id)
        .join(GenerationRow, GenerationRow.attempt_id == AttemptRow.id)
        .join(source, source.id == GenerationRow.reused_from)
        .where(source.run_id == run_id, AttemptRow.run_id != run_id)
    )
    other = session.scalar(reusing.order_by(AttemptRow.run_id).limit(1))
    if other is not None:
        raise UsageError(
            f"Run {prefix(other)} has graded answers of run {prefix(run_id)} again; delete that one first."
        )


def _description(session: Session, row: RunRow) -> str:
    model = session.get_one(ModelRow, row.model_id)
    return f"{model.provider}/{model.name}, {row.experiment}, {row.started_at:%Y-%m-%d %H:%M} UTC"


def _release_artifacts(session: Session, decision: RunDecision) -> None:
    attempts = select(AttemptRow.id).where(AttemptRow.run_id == decision.run_id)
    generations = [
        select(column).where(GenerationRow.attempt_id.in_(attempts))
        for column in (GenerationRow.prompt, GenerationRow.response, GenerationRow.files)
    ]
    logs = select(StepRow.log).where(StepRow.attempt_id.in_(attempts), StepRow.log.is_not(None))
    for sha256 in sorted(session.scalars(union(*generations, logs)).all()):
        insert_if_new(session, ReleasedArtifactRow, sha256=sha256, decision_id=decision.id)


def _delete_rows(session: Session, run_id: str) -> None:
    attempts = select(AttemptRow.id).where(AttemptRow.run_id == run_id)
    for of_attempt in _OF_ATTEMPTS:
        session.execute(delete(of_attempt).where(of_attempt.attempt_id.in_(attempts)))
    for of_run in _OF_RUN:
        session.execute(delete(of_run).where(of_run.run_id == run_id))
    session.execute(delete(RunRow).where(RunRow.id == run_id))


def _is_used() -> ColumnElement[bool]:
    columns = (GenerationRow.prompt, GenerationRow.response, GenerationRow.files, StepRow.log)
    return or_(*(exists().where(column == ArtifactRow.sha256) for column in columns))


def _record(row: RunDecisionRow) -> RunDecision:
    return RunDecision(row.run_id, row.kind, row.who, row.why, row.made_at, row.about, row.id)
