"""A run that is finished has its counts. The last of three moves; see revision 0010."""

import sqlalchemy as sa
from alembic import op

from convex_evals.scores.migrations.data import COUNT_FINISHED_RUNS, refuse_while_pending
from convex_evals.scores.migrations.triggers import allow_deleting_with_its_run, follow_changes, refuse

revision = "0011"
down_revision = "0010"

FIXED_IN_RUNS = (
    "id, model_id, experiment, trials, options, started_at, suite_fingerprint, content_fingerprint, "
    "grader_fingerprint, pipeline_fingerprint, toolchain_fingerprint, prompt_fingerprint"
)
# SQLite rebuilds the table and would forget these.
CHECKS = (
    sa.CheckConstraint("status IN ('running', 'completed', 'stopped', 'failed')", name="ck_runs_status"),
    sa.CheckConstraint("trials >= 1", name="ck_runs_trials"),
)
COUNTED = "finished_at IS NULL OR (counted_at IS NOT NULL AND counted_at = finished_at)"
COMPLETE = "counted_at IS NULL OR evals + total + passed + failed + skipped + infrastructure IS NOT NULL"


def upgrade() -> None:
    refuse_while_pending(op.get_bind(), COUNT_FINISHED_RUNS)
    with op.batch_alter_table("runs", table_args=CHECKS) as runs:
        runs.create_check_constraint("ck_runs_counted", COUNTED)
        runs.create_check_constraint("ck_runs_counts", COMPLETE)
    if op.get_context().dialect.name == "sqlite":
        refuse("runs", f"UPDATE OF {FIXED_IN_RUNS}")
        allow_deleting_with_its_run("runs", "id")
        follow_changes(["runs"])
