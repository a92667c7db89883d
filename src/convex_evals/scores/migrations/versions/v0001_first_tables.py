"""Models, runs, attempts, steps, generations, usage and artifacts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

FIXED_IN_RUNS = (
    "id, model_id, experiment, trials, options, started_at, suite_fingerprint, content_fingerprint, "
    "grader_fingerprint, pipeline_fingerprint, toolchain_fingerprint, prompt_fingerprint"
)
NEVER_CHANGED = ("planned_evals", "steps", "generations", "usage", "artifacts", "artifact_chunks")

ID = sa.String(32)
SHA256 = sa.String(64)
WORD = sa.String(16)
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _runs()
    _attempts()
    _artifacts()
    _generations()
    _steps()
    _keep_what_was_recorded()


def _runs() -> None:
    op.create_table(
        "models",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_models"),
        sa.UniqueConstraint("name", "provider", name="uq_models_name_provider"),
    )
    op.create_table(
        "runs",
        sa.Column("id", ID, nullable=False),
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("experiment", sa.Text(), nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.Column("suite_fingerprint", sa.Text()),
        sa.Column("content_fingerprint", sa.Text()),
        sa.Column("grader_fingerprint", sa.Text()),
        sa.Column("pipeline_fingerprint", sa.Text()),
        sa.Column("toolchain_fingerprint", sa.Text()),
        sa.Column("prompt_fingerprint", sa.Text()),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT),
        sa.CheckConstraint("status IN ('running', 'completed', 'stopped', 'failed')", name="ck_runs_status"),
        sa.CheckConstraint("trials >= 1", name="ck_runs_trials"),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name="fk_runs_model_id"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_started_at", "runs", ["started_at"])
    op.create_index("ix_runs_model_id_experiment_started_at", "runs", ["model_id", "experiment", "started_at"])
    op.create_table(
        "planned_evals",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("eval", sa.Text(), nullable=False),
        sa.Column("content_fingerprint", sa.Text()),
        sa.Column("grader_fingerprint", sa.Text()),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_planned_evals_run_id"),
        sa.PrimaryKeyConstraint("run_id", "eval", name="pk_planned_evals"),
    )


def _attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("eval", sa.Text(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("failed_step", WORD),
        sa.Column("failure", sa.Text()),
        sa.Column("tests_passed", sa.Integer()),
        sa.Column("tests_total", sa.Integer()),
        sa.Column("duration_ms", sa.Double()),
        sa.Column("cpu_ms", sa.Double()),
        sa.Column("broken", sa.Text()),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT),
        sa.CheckConstraint(
            "status IN ('running', 'passed', 'failed', 'skipped', 'infrastructure', 'interrupted')",
            name="ck_attempts_status",
        ),
        sa.CheckConstraint("(status = 'running') = (finished_at IS NULL)", name="ck_attempts_finished"),
        sa.ForeignKeyConstraint(
            ["run_id", "eval"], ["planned_evals.run_id", "planned_evals.eval"], name="fk_attempts_run_id_eval"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.UniqueConstraint("run_id", "eval", "trial", "number", name="uq_attempts_run_id_eval_trial_number"),
    )
    running = sa.text("status = 'running'")
    op.create_index(
        "uq_attempts_running",
        "attempts",
        ["run_id", "eval", "trial"],
        unique=True,
        sqlite_where=running,
        postgresql_where=running,
    )


def _artifacts() -> None:
    op.create_table(
        "artifacts",
        sa.Column("sha256", SHA256, nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_artifacts"),
    )
    op.create_table(
        "artifact_chunks",
        sa.Column("sha256", SHA256, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["sha256"], ["artifacts.sha256"], name="fk_artifact_chunks_sha256"),
        sa.PrimaryKeyConstraint("sha256", "position", name="pk_artifact_chunks"),
    )


def _generations() -> None:
    op.create_table(
        "generations",
        sa.Column("attempt_id", ID, nullable=False),
        sa.Column("prompt", SHA256, nullable=False),
        sa.Column("response", SHA256, nullable=False),
        sa.Column("files", SHA256, nullable=False),
        sa.Column("from_cache", sa.Boolean(), nullable=False),
        sa.Column("reused_from", ID),
        sa.Column("recorded_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_generations_attempt_id"),
        sa.ForeignKeyConstraint(["prompt"], ["artifacts.sha256"], name="fk_generations_prompt"),
        sa.ForeignKeyConstraint(["response"], ["artifacts.sha256"], name="fk_generations_response"),
        sa.ForeignKeyConstraint(["files"], ["artifacts.sha256"], name="fk_generations_files"),
        sa.ForeignKeyConstraint(["reused_from"], ["generations.attempt_id"], name="fk_generations_reused_from"),
        sa.PrimaryKeyConstraint("attempt_id", name="pk_generations"),
    )
    op.create_table(
        "usage",
        sa.Column("attempt_id", ID, nullable=False),
        sa.Column("input_tokens", sa.BigInteger()),
        sa.Column("cached_tokens", sa.BigInteger()),
        sa.Column("output_tokens", sa.BigInteger()),
        sa.Column("reasoning_tokens", sa.BigInteger()),
        sa.Column("first_token_ms", sa.Double()),
        sa.Column("generation_ms", sa.Double()),
        sa.Column("finish_reason", sa.Text()),
        sa.Column("upstream", sa.Text()),
        sa.Column("cost_usd", sa.Double()),
        sa.Column("cost_source", WORD, nullable=False),
        sa.CheckConstraint("cost_source IN ('provider', 'estimated', 'unknown')", name="ck_usage_cost_source"),
        sa.CheckConstraint("(cost_source = 'unknown') = (cost_usd IS NULL)", name="ck_usage_cost"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_usage_attempt_id"),
        sa.PrimaryKeyConstraint("attempt_id", name="pk_usage"),
    )


def _steps() -> None:
    op.create_table(
        "steps",
        sa.Column("attempt_id", ID, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("failure", sa.Text()),
        sa.Column("duration_ms", sa.Double(), nullable=False),
        sa.Column("cpu_ms", sa.Double(), nullable=False),
        sa.Column("commands", sa.JSON(), nullable=False),
        sa.Column("excerpt", sa.Text(), nullable=False),
        sa.Column("log", SHA256),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("recorded_at", MOMENT, nullable=False),
        sa.CheckConstraint(
            "name IN ('filesystem', 'install', 'deploy', 'tsc', 'eslint', 'tests')", name="ck_steps_name"
        ),
        sa.CheckConstraint("status IN ('passed', 'failed', 'skipped', 'infrastructure')", name="ck_steps_status"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_steps_attempt_id"),
        sa.ForeignKeyConstraint(["log"], ["artifacts.sha256"], name="fk_steps_log"),
        sa.PrimaryKeyConstraint("attempt_id", "name", name="pk_steps"),
    )


def _keep_what_was_recorded() -> None:
    """The database itself refuses to change or delete evidence. Only a running attempt may still be finished."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION scores_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '% are never changed or deleted', TG_TABLE_NAME; END $$"
        )
    for table in NEVER_CHANGED:
        _refuse(table, "UPDATE")
    _refuse("attempts", "UPDATE", when="OLD.status <> 'running'")
    _refuse("runs", f"UPDATE OF {FIXED_IN_RUNS}")
    for table in (*NEVER_CHANGED, "attempts", "runs"):
        _refuse(table, "DELETE")


def _refuse(table: str, change: str, when: str | None = None) -> None:
    name = f"{table}_refuse_{change.split()[0].lower()}"
    condition = f" WHEN ({when})" if when else ""
    action = (
        "EXECUTE FUNCTION scores_refuse()"
        if op.get_context().dialect.name == "postgresql"
        else f"BEGIN SELECT RAISE(ABORT, '{table} are never changed or deleted'); END"
    )
    op.execute(f"CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW{condition} {action}")
