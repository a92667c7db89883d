"""When runs were worked on, and trials that were added to a run while it went on."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

ID = sa.String(32)
MOMENT = sa.DateTime(timezone=True)
PAUSE = timedelta(minutes=10)
"""Runs of before have no record of when they were worked on: longer than this without an attempt was no work."""
PERIODS = sa.table(
    "work_periods",
    sa.column("run_id", ID),
    sa.column("number", sa.Integer),
    sa.column("started_at", MOMENT),
    sa.column("ended_at", MOMENT),
)


def upgrade() -> None:
    op.create_table(
        "work_periods",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_work_periods_run_id"),
        sa.PrimaryKeyConstraint("run_id", "number", name="pk_work_periods"),
    )
    op.create_table(
        "extra_trials",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("eval", sa.Text(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "eval"], ["planned_evals.run_id", "planned_evals.eval"], name="fk_extra_trials_run_id_eval"
        ),
        sa.PrimaryKeyConstraint("run_id", "eval", "trial", name="pk_extra_trials"),
    )
    _fill()
    _refuse("work_periods", "UPDATE", " WHEN (OLD.ended_at IS NOT NULL)")
    _refuse("work_periods", "DELETE")
    _refuse("extra_trials", "UPDATE")
    _refuse("extra_trials", "DELETE")


def _fill() -> None:
    """From the attempts: those that follow one another without a long pause were one period."""
    attempts = sa.text(
        "SELECT a.run_id, a.started_at, "
        "CASE WHEN a.status IN ('interrupted', 'running') THEN NULL ELSE a.finished_at END AS finished_at, "
        "(SELECT max(s.recorded_at) FROM steps s WHERE s.attempt_id = a.id) AS seen_at "
        "FROM attempts a ORDER BY a.run_id, a.started_at"
    ).columns(run_id=ID, started_at=MOMENT, finished_at=MOMENT, seen_at=MOMENT)
    found = op.get_bind().execute(attempts).all()
    rows = [
        {"run_id": run, "number": number, "started_at": start, "ended_at": end}
        for run, of_run in groupby(found, key=itemgetter(0))
        for number, (start, end) in enumerate(_periods(of_run), 1)
    ]
    if rows:
        op.get_bind().execute(sa.insert(PERIODS), rows)


def _periods(attempts: Iterable[Sequence[Any]]) -> list[tuple[datetime, datetime]]:
    periods: list[tuple[datetime, datetime]] = []
    for _, started, finished, seen in attempts:
        ended = finished or seen or started
        if periods and started - periods[-1][1] <= PAUSE:
            periods[-1] = (periods[-1][0], max(periods[-1][1], ended))
        else:
            periods.append((started, ended))
    return periods


def _refuse(table: str, change: str, condition: str = "") -> None:
    action = (
        "EXECUTE FUNCTION scores_refuse()"
        if op.get_context().dialect.name == "postgresql"
        else f"BEGIN SELECT RAISE(ABORT, '{table} are never changed or deleted'); END"
    )
    name = f"{table}_refuse_{change.lower()}"
    op.execute(f"CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW{condition} {action}")
