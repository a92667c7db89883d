"""What steps found, as values: diagnostics and results of tests.

Of steps recorded before, both are read from the log and the excerpt, once, as far as they tell. A log that is damaged
costs no more than what it told.
"""

import zlib
from collections.abc import Sequence
from dataclasses import asdict

import sqlalchemy as sa
from alembic import op

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.scores.migrations.old_logs import OldStep, read_diagnostics, read_test_results

revision = "0005"
down_revision = "0004"

ID = sa.String(32)
WORD = sa.String(16)
STATUSES = "'passed', 'failed', 'skipped', 'unseen', 'broken', 'hangs', 'lost', 'crashed'"


def upgrade() -> None:
    _fill(_create_diagnostics(), _create_test_results())
    for table in ("diagnostics", "test_results"):
        for change in ("UPDATE", "DELETE"):
            _refuse(table, change)


def _create_diagnostics() -> sa.Table:
    table = op.create_table(
        "diagnostics",
        sa.Column("attempt_id", ID, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("file", sa.Text()),
        sa.Column("line", sa.Integer()),
        sa.Column("column", sa.Integer()),
        sa.Column("expected", sa.Text()),
        sa.Column("received", sa.Text()),
        sa.Column("assertion", sa.Text()),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("code", sa.Text()),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id", "step"], ["steps.attempt_id", "steps.name"], name="fk_diagnostics_attempt_id_step"
        ),
        sa.PrimaryKeyConstraint("attempt_id", "step", "position", name="pk_diagnostics"),
    )
    op.create_index("ix_diagnostics_fingerprint", "diagnostics", ["fingerprint"])
    return table


def _create_test_results() -> sa.Table:
    return op.create_table(
        "test_results",
        sa.Column("attempt_id", ID, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("file", sa.Text()),
        sa.Column("line", sa.Integer()),
        sa.Column("expected", sa.Text()),
        sa.Column("received", sa.Text()),
        sa.Column("assertion", sa.Text()),
        sa.Column("duration_ms", sa.Double(), nullable=False),
        sa.CheckConstraint(f"status IN ({STATUSES})", name="ck_test_results_status"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_test_results_attempt_id"),
        sa.PrimaryKeyConstraint("attempt_id", "position", name="pk_test_results"),
    )


def _fill(diagnostics: sa.Table, test_results: sa.Table) -> None:
    connection = op.get_bind()
    steps = sa.text("SELECT attempt_id, name, status, failure, excerpt, log FROM steps WHERE status <> 'skipped'")
    for step in connection.execute(steps).all():
        if step.status != "passed" or step.name == "tests":
            log = _log(connection, step.log) if step.log is not None else ""
            old = OldStep(step.name, step.failure, step.excerpt, log)
            _insert(connection, diagnostics, step.attempt_id, read_diagnostics(old) if step.failure else ())
            _insert(connection, test_results, step.attempt_id, read_test_results(old))


def _insert(
    connection: sa.Connection, table: sa.Table, attempt_id: str, values: Sequence[Diagnostic | TestResult]
) -> None:
    rows = [
        {"attempt_id": attempt_id, "position": position, **{name: _shown(each) for name, each in asdict(value).items()}}
        for position, value in enumerate(values)
    ]
    if rows:
        connection.execute(sa.insert(table), rows)


def _log(connection: sa.Connection, sha256: str) -> str:
    chunks = sa.text("SELECT content FROM artifact_chunks WHERE sha256 = :sha256 ORDER BY position")
    try:
        stored = [zlib.decompress(chunk) for chunk in connection.scalars(chunks, {"sha256": sha256})]
    except zlib.error:
        return ""
    return b"".join(stored).decode(errors="replace")


def _shown(value: object) -> object:
    """No database takes these as text."""
    return value.replace("\0", "␀").encode(errors="replace").decode() if isinstance(value, str) else value


def _refuse(table: str, change: str) -> None:
    action = (
        "EXECUTE FUNCTION scores_refuse()"
        if op.get_context().dialect.name == "postgresql"
        else f"BEGIN SELECT RAISE(ABORT, '{table} are never changed or deleted'); END"
    )
    op.execute(f"CREATE TRIGGER {table}_refuse_{change.lower()} BEFORE {change} ON {table} FOR EACH ROW {action}")
