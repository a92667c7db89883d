"""Finished runs keep their counts, so that listing a thousand of them is quick.

The first of three moves: columns that may be empty, which the data migration `0010_count_finished_runs` fills.
Revision 0011 demands them.
"""

import sqlalchemy as sa
from alembic import op

from convex_evals.scores.migrations.data import COUNT_FINISHED_RUNS, register

revision = "0010"
down_revision = "0009"

COUNTS = ("evals", "total", "passed", "failed", "skipped", "infrastructure")


def upgrade() -> None:
    for name in COUNTS:
        op.add_column("runs", sa.Column(name, sa.Integer()))
    op.add_column("runs", sa.Column("counted_at", sa.DateTime(timezone=True)))
    register(op.get_bind(), COUNT_FINISHED_RUNS)
