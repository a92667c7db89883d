"""The tables, as this version of the code uses them. `migrations/` makes them; a test compares the two."""

from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from convex_evals.core.diagnostics import TestStatus
from convex_evals.core.verdicts import Status, StepName
from convex_evals.scores.records import AttemptStatus, CostSource, RunStatus

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

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return value


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
        list[Any]: JSON(),
        dict[str, Any]: JSON(),
    }


class ModelRow(Row):
    __tablename__ = "models"
    __table_args__ = (UniqueConstraint("name", "provider"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    provider: Mapped[str]
    created_at: Mapped[datetime]


class RunRow(Row):
    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint("status IN ('running', 'completed', 'stopped', 'failed')", name="status"),
        CheckConstraint("trials >= 1", name="trials"),
        Index(None, "model_id", "experiment", "started_at"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    model_id: Mapped[int] = mapped_column(ForeignKey("models.id"))
    experiment: Mapped[str]
    trials: Mapped[int]
    suite_fingerprint: Mapped[str | None]
    content_fingerprint: Mapped[str | None]
    grader_fingerprint: Mapped[str | None]
    pipeline_fingerprint: Mapped[str | None]
    toolchain_fingerprint: Mapped[str | None]
    prompt_fingerprint: Mapped[str | None]
    options: Mapped[dict[str, Any]]
    labels: Mapped[list[Any]]
    status: Mapped[RunStatus]
    reason: Mapped[str | None]
    started_at: Mapped[datetime] = mapped_column(index=True)
    finished_at: Mapped[datetime | None]


class PlannedEvalRow(Row):
    __tablename__ = "planned_evals"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    eval: Mapped[str] = mapped_column(primary_key=True)
    content_fingerprint: Mapped[str | None]
    grader_fingerprint: Mapped[str | None]


class WorkPeriodRow(Row):
    """A time in which a process worked on the run. Without an end, one does, or one went away."""

    __tablename__ = "work_periods"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class ExtraTrialRow(Row):
    """A trial of one eval beyond those that every eval of the run has."""

    __tablename__ = "extra_trials"
    __table_args__ = (ForeignKeyConstraint(["run_id", "eval"], ["planned_evals.run_id", "planned_evals.eval"]),)

    run_id: Mapped[str] = mapped_column(ID, primary_key=True)
    eval: Mapped[str] = mapped_column(primary_key=True)
    trial: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class AttemptRow(Row):
    __tablename__ = "attempts"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "eval"], ["planned_evals.run_id", "planned_evals.eval"]),
        UniqueConstraint("run_id", "eval", "trial", "number"),
        CheckConstraint(
            "status IN ('running', 'passed', 'failed', 'skipped', 'infrastructure', 'interrupted')", name="status"
        ),
        CheckConstraint("(status = 'running') = (finished_at IS NULL)", name="finished"),
        # Two processes can never work on the same eval and trial of a run at once.
        Index(
            "uq_attempts_running",
            "run_id",
            "eval",
            "trial",
            unique=True,
            sqlite_where=text("status = 'running'"),
            postgresql_where=text("status = 'running'"),
        ),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    run_id: Mapped[str] = mapped_column(ID)
    eval: Mapped[str]
    trial: Mapped[int]
    number: Mapped[int]
    status: Mapped[AttemptStatus]
    failed_step: Mapped[StepName | None]
    failure: Mapped[str | None]
    tests_passed: Mapped[int | None]
    tests_total: Mapped[int | None]
    duration_ms: Mapped[float | None]
    cpu_ms: Mapped[float | None]
    broken: Mapped[str | None]
    notes: Mapped[list[Any]]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class ArtifactRow(Row):
    __tablename__ = "artifacts"

    sha256: Mapped[str] = mapped_column(SHA256, primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime]


class ArtifactChunkRow(Row):
    """Part of an artifact, compressed: neither database likes one very large value, and neither does memory."""

    __tablename__ = "artifact_chunks"

    sha256: Mapped[str] = mapped_column(ForeignKey("artifacts.sha256"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class GenerationRow(Row):
    __tablename__ = "generations"

    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id"), primary_key=True)
    prompt: Mapped[str] = mapped_column(ForeignKey("artifacts.sha256"))
    response: Mapped[str] = mapped_column(ForeignKey("artifacts.sha256"))
    files: Mapped[str] = mapped_column(ForeignKey("artifacts.sha256"))
    from_cache: Mapped[bool]
    truncated: Mapped[bool] = mapped_column(server_default=false())
    notes: Mapped[list[Any] | None]  # None: recorded before version 0002
    reused_from: Mapped[str | None] = mapped_column(ForeignKey("generations.attempt_id"))
    recorded_at: Mapped[datetime]


class UsageRow(Row):
    __tablename__ = "usage"
    __table_args__ = (
        CheckConstraint("cost_source IN ('provider', 'estimated', 'unknown')", name="cost_source"),
        CheckConstraint("(cost_source = 'unknown') = (cost_usd IS NULL)", name="cost"),
    )

    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id"), primary_key=True)
    input_tokens: Mapped[int | None] = mapped_column(BigInteger)
    cached_tokens: Mapped[int | None] = mapped_column(BigInteger)
    output_tokens: Mapped[int | None] = mapped_column(BigInteger)
    reasoning_tokens: Mapped[int | None] = mapped_column(BigInteger)
    first_token_ms: Mapped[float | None]
    generation_ms: Mapped[float | None]
    finish_reason: Mapped[str | None]
    upstream: Mapped[str | None]
    cost_usd: Mapped[float | None]
    cost_source: Mapped[CostSource]


class StepRow(Row):
    __tablename__ = "steps"
    __table_args__ = (
        CheckConstraint("name IN ('filesystem', 'install', 'deploy', 'tsc', 'eslint', 'tests')", name="name"),
        CheckConstraint("status IN ('passed', 'failed', 'skipped', 'infrastructure')", name="status"),
    )

    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id"), primary_key=True)
    name: Mapped[StepName] = mapped_column(primary_key=True)
    status: Mapped[Status]
    failure: Mapped[str | None]
    duration_ms: Mapped[float]
    cpu_ms: Mapped[float]
    commands: Mapped[list[Any]]
    excerpt: Mapped[str]
    log: Mapped[str | None] = mapped_column(ForeignKey("artifacts.sha256"))
    notes: Mapped[list[Any]]
    recorded_at: Mapped[datetime]


class DiagnosticRow(Row):
    """One thing that a tool said. The fingerprint is indexed: who else fails like this is one query."""

    __tablename__ = "diagnostics"
    __table_args__ = (ForeignKeyConstraint(["attempt_id", "step"], ["steps.attempt_id", "steps.name"]),)

    attempt_id: Mapped[str] = mapped_column(ID, primary_key=True)
    step: Mapped[StepName] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    message: Mapped[str]
    name: Mapped[str | None]
    file: Mapped[str | None]
    line: Mapped[int | None]
    column: Mapped[int | None]
    expected: Mapped[str | None]
    received: Mapped[str | None]
    assertion: Mapped[str | None]
    tool: Mapped[str]
    code: Mapped[str | None]
    fingerprint: Mapped[str] = mapped_column(index=True)


class TestResultRow(Row):
    """One test of a grader, in the order of the report."""

    __test__ = False
    __tablename__ = "test_results"
    __table_args__ = (
        CheckConstraint(
            "status IN ('passed', 'failed', 'skipped', 'unseen', 'broken', 'hangs', 'lost', 'crashed')", name="status"
        ),
    )

    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str]
    status: Mapped[TestStatus]
    message: Mapped[str]
    file: Mapped[str | None]
    line: Mapped[int | None]
    expected: Mapped[str | None]
    received: Mapped[str | None]
    assertion: Mapped[str | None]
    duration_ms: Mapped[float]


class BenchmarkRow(Row):
    """A version of the benchmark: what runs must have been asked and graded with to be ranked together."""

    __tablename__ = "benchmarks"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    evals: Mapped[dict[str, Any]]  # by name: [content, grader]
    prompts: Mapped[dict[str, Any]]  # by experiment
    pipeline: Mapped[str]
    toolchain: Mapped[str]
    minted_at: Mapped[datetime]
