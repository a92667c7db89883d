"""Versions of the benchmark."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "benchmarks",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("evals", sa.JSON(), nullable=False),
        sa.Column("prompts", sa.JSON(), nullable=False),
        sa.Column("pipeline", sa.Text(), nullable=False),
        sa.Column("toolchain", sa.Text(), nullable=False),
        sa.Column("minted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_benchmarks"),
    )
    for change in ("UPDATE", "DELETE"):
        _refuse(change)


def _refuse(change: str) -> None:
    action = (
        "EXECUTE FUNCTION scores_refuse()"
        if op.get_context().dialect.name == "postgresql"
        else "BEGIN SELECT RAISE(ABORT, 'benchmarks are never changed or deleted'); END"
    )
    op.execute(f"CREATE TRIGGER benchmarks_refuse_{change.lower()} BEFORE {change} ON benchmarks FOR EACH ROW {action}")
