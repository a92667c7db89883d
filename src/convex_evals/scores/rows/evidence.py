"""The tables of runs and their evidence."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    String,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from convex_evals.core.diagnostics import TestStatus
from convex_evals.core.verdicts import Status, StepName
from convex_evals.scores.records import AttemptStatus, CostSource, RunStatus
from convex_evals.scores.rows.base import ID, SHA256, Row


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
        CheckConstraint("finished_at IS NULL OR (counted_at IS NOT NULL AND counted_at = finished_at)", name="counted"),
        CheckConstraint(
            "counted_at IS NULL OR evals + total + passed + failed + skipped + infrastructure IS NOT NULL",
            name="counts",
        ),
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
    hidden: Mapped[bool] = mapped_column(server_default=false())
    # Counted when it finished, which is at `counted_at`; a run that goes on has none.
    evals: Mapped[int | None]
    total: Mapped[int | None]
    passed: Mapped[int | None]
    failed: Mapped[int | None]
    skipped: Mapped[int | None]
    infrastructure: Mapped[int | None]
    counted_at: Mapped[datetime | None]


class PlannedEvalRow(Row):
    __tablename__ = "planned_evals"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    eval: Mapped[str] = mapped_column(primary_key=True)
    content_fingerprint: Mapped[str | None]
    grader_fingerprint: Mapped[str | None]


class WorkPeriodRow(Row):
    """A time in which a process worked on the run, from its first attempt. Without an end, one does, or went away."""

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
        Index(None, "eval", "status"),
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
