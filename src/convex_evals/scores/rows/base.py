"""What all tables share: how constraints are called, and which column a Python type is."""

from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from sqlalchemy import JSON, DateTime, Dialect, Double, MetaData, String, Text, TypeDecorator
from sqlalchemy.orm import DeclarativeBase

from convex_evals.core.diagnostics import TestStatus
from convex_evals.core.verdicts import FailureClass, Status, StepName
from convex_evals.scores.records import AttemptStatus, CostSource, JobState, RunDecisionKind, RunStatus

ID: Final = String(32)
SHA256: Final = String(64)
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class Moment(TypeDecorator[datetime]):
    """A point in time, in UTC. SQLite keeps no time zone, so it is taken off and put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class ShownText(TypeDecorator[str]):
    """Text to look at. What no database takes as text is made visible; artifacts keep what it really was."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return value.replace("\0", "␀").encode(errors="replace").decode()


class Row(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: ShownText(),
        float: Double(),
        datetime: Moment(),
        StepName: String(16),
        Status: String(16),
        RunStatus: String(16),
        AttemptStatus: String(16),
        CostSource: String(16),
        TestStatus: String(16),
        FailureClass: String(16),
        RunDecisionKind: String(16),
        JobState: String(16),
        list[Any]: JSON(),
        dict[str, Any]: JSON(),
    }
