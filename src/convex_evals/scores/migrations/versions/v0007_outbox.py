"""What services have not got yet, filled by triggers; who records a run here; large artifacts that are on their way."""

import sqlalchemy as sa
from alembic import op

from convex_evals.scores.migrations.triggers import follow_changes

revision = "0007"
down_revision = "0006"

ID = sa.String(32)
SHA256 = sa.String(64)
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _deliveries()
    _outbox()
    _leases()
    _artifact_parts()
    follow_changes()


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("since", MOMENT, nullable=False),
        sa.Column("refused", sa.Text()),
        sa.PrimaryKeyConstraint("run_id", "destination", name="pk_deliveries"),
    )


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("destination", "kind", "key", name="uq_outbox_destination_kind_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_destination_run_id_id", "outbox", ["destination", "run_id", "id"])


def _leases() -> None:
    op.create_table(
        "leases",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("renewed_at", MOMENT, nullable=False),
        sa.Column("ends_at", MOMENT, nullable=False),
        sa.Column("ended", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_leases"),
    )
    op.create_index("ix_leases_ends_at", "leases", ["ends_at"])


def _artifact_parts() -> None:
    op.create_table(
        "artifact_parts",
        sa.Column("sha256", SHA256, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("sha256", "position", name="pk_artifact_parts"),
    )
