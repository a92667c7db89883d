"""Attempts are found by their eval, for its page."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_index("ix_attempts_eval_status", "attempts", ["eval", "status"])
