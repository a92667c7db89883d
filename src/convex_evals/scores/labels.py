"""Labels: what people say about failures. They are added, never changed; the latest about a failure counts."""

from dataclasses import asdict, fields

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.scores.database import Database, insert_if_new
from convex_evals.scores.records import LabelRecord
from convex_evals.scores.rows import LabelRow, ModelRow, PlannedEvalRow, RunRow


class Labels:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, *labels: LabelRecord) -> int:
        """How many were new: adding the same one again changes nothing."""
        with self._database.writing() as session:
            return sum(_insert(session, label) for label in labels)

    def of_run(self, run_id: str) -> tuple[LabelRecord, ...]:
        """Oldest first."""
        return self._read(LabelRow.run_id == run_id)

    def of_every_run(self) -> tuple[LabelRecord, ...]:
        """Oldest first."""
        return self._read()

    def of_model(self, model: str, provider: str) -> tuple[LabelRecord, ...]:
        """Of all its runs, oldest first."""
        return self._read(ModelRow.name == model, ModelRow.provider == provider)

    def _read(self, *conditions: ColumnElement[bool]) -> tuple[LabelRecord, ...]:
        query = (
            select(LabelRow)
            .join(RunRow, RunRow.id == LabelRow.run_id)
            .join(ModelRow, ModelRow.id == RunRow.model_id)
            .where(*conditions)
            .order_by(LabelRow.made_at, LabelRow.id)
        )
        with self._database.reading() as session:
            return tuple(_record(row) for row in session.scalars(query))


def _insert(session: Session, label: LabelRecord) -> bool:
    if session.get(PlannedEvalRow, (label.run_id, label.eval)) is None:
        raise UsageError(f"Run {prefix(label.run_id)} has no eval {label.eval!r} that could be labelled.")
    return insert_if_new(session, LabelRow, **asdict(label))


def _record(row: LabelRow) -> LabelRecord:
    return LabelRecord(**{field.name: getattr(row, field.name) for field in fields(LabelRecord)})
