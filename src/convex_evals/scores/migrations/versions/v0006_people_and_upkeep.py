"""Tokens, labels, decisions about runs, data migrations and the deployment's name.

Deleting a run becomes possible, for whoever records first who wants it and why.
"""

import sqlalchemy as sa
from alembic import op

from convex_evals.scores.migrations.triggers import (
    allow_deleting_when_released,
    allow_deleting_with_its_run,
    refuse,
)

revision = "0006"
down_revision = "0005"

ID = sa.String(32)
SHA256 = sa.String(64)
WORD = sa.String(16)
NAME = sa.String(64)
MOMENT = sa.DateTime(timezone=True)
CLASSES = "'MODEL_FAULT', 'OVERLY_STRICT', 'AMBIGUOUS_TASK', 'KNOWN_GAP'"
BY_RUN = ("planned_evals", "attempts", "work_periods", "extra_trials", "labels")
BY_ATTEMPT = ("steps", "generations", "usage", "diagnostics", "test_results")
FIXED_IN_TOKENS = "id, name, sha256, rights, deployment, created_at, expires_at"


def upgrade() -> None:
    op.add_column("runs", sa.Column("hidden", sa.Boolean(), server_default=sa.false(), nullable=False))
    _tokens()
    _labels()
    _decisions()
    _data_migrations()
    _deployment()
    _keep_records()


def _tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("sha256", SHA256, nullable=False),
        sa.Column("rights", sa.JSON(), nullable=False),
        sa.Column("deployment", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT),
        sa.Column("used_at", MOMENT),
        sa.Column("revoked_at", MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("name", name="uq_tokens_name"),
    )


def _labels() -> None:
    op.create_table(
        "labels",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("eval", sa.Text(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("failure_class", WORD, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.CheckConstraint(f"failure_class IN ({CLASSES})", name="ck_labels_failure_class"),
        sa.ForeignKeyConstraint(
            ["run_id", "eval"], ["planned_evals.run_id", "planned_evals.eval"], name="fk_labels_run_id_eval"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_labels"),
    )
    op.create_index("ix_labels_run_id_eval_trial", "labels", ["run_id", "eval", "trial"])


def _decisions() -> None:
    op.create_table(
        "run_decisions",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("about", sa.Text()),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.CheckConstraint("kind IN ('hide', 'unhide', 'delete', 'label', 'unlabel')", name="ck_run_decisions_kind"),
        sa.PrimaryKeyConstraint("id", name="pk_run_decisions"),
    )
    op.create_index("ix_run_decisions_run_id_kind", "run_decisions", ["run_id", "kind"])
    op.create_table(
        "released_artifacts",
        sa.Column("sha256", SHA256, nullable=False),
        sa.Column("decision_id", ID, nullable=False),
        sa.ForeignKeyConstraint(["decision_id"], ["run_decisions.id"], name="fk_released_artifacts_decision_id"),
        sa.PrimaryKeyConstraint("sha256", name="pk_released_artifacts"),
    )
    op.create_table(
        "prunings",
        sa.Column("id", ID, nullable=False),
        sa.Column("artifacts", sa.Integer(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_prunings"),
    )


def _data_migrations() -> None:
    op.create_table(
        "data_migrations",
        sa.Column("name", NAME, nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("worked_ms", sa.Double(), nullable=False),
        sa.Column("started_at", MOMENT),
        sa.Column("updated_at", MOMENT),
        sa.Column("finished_at", MOMENT),
        sa.CheckConstraint("state IN ('pending', 'running', 'done')", name="ck_data_migrations_state"),
        sa.PrimaryKeyConstraint("name", name="pk_data_migrations"),
    )


def _deployment() -> None:
    op.create_table(
        "deployment",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("marked_at", MOMENT, nullable=False),
        sa.CheckConstraint("id = 1", name="ck_deployment_only"),
        sa.PrimaryKeyConstraint("id", name="pk_deployment"),
    )


def _keep_records() -> None:
    refuse("tokens", f"UPDATE OF {FIXED_IN_TOKENS}")
    refuse("tokens", "DELETE")
    refuse("labels", "UPDATE")
    for table in ("run_decisions", "prunings"):
        refuse(table, "UPDATE")
        refuse(table, "DELETE")
    allow_deleting_with_its_run("runs", "id")
    for table in BY_RUN:
        allow_deleting_with_its_run(table, "run_id")
    for table in BY_ATTEMPT:
        allow_deleting_with_its_run(table, "attempt_id")
    for table in ("artifacts", "artifact_chunks"):
        allow_deleting_when_released(table)
