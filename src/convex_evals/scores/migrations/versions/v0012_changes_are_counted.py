"""Changes of runs are counted, so that pages are computed again when something changed and not otherwise."""

import sqlalchemy as sa
from alembic import op

from convex_evals.scores.migrations.triggers import count_changes

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "change_counts",
        sa.Column("subject", sa.String(32), nullable=False),
        sa.Column("writer", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "writer", name="pk_change_counts"),
    )
    count_changes()
