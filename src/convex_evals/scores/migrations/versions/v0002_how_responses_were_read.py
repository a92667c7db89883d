"""Generations say whether the model was stopped before it was done, and what was noted when its response was read."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("generations", sa.Column("truncated", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("generations", sa.Column("notes", sa.JSON()))
