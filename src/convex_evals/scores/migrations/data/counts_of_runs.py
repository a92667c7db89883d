"""The counts of runs that finished before runs kept them."""

from typing import Final

from convex_evals.scores.migrations.data.migration import DataMigration

_LATEST: Final = """
    (SELECT count(*) FROM attempts a WHERE a.run_id = runs.id AND a.status = '{status}' AND NOT EXISTS (
        SELECT 1 FROM attempts later WHERE later.run_id = a.run_id AND later.eval = a.eval AND later.trial = a.trial
        AND later.number > a.number AND later.status IN ('passed', 'failed', 'skipped', 'infrastructure')))"""
_EVALS: Final = "(SELECT count(*) FROM planned_evals p WHERE p.run_id = runs.id)"
_EXTRA: Final = "(SELECT count(*) FROM extra_trials e WHERE e.run_id = runs.id)"

COUNT_FINISHED_RUNS: Final = DataMigration(
    name="0010_count_finished_runs",
    table="runs",
    key="id",
    pending="finished_at IS NOT NULL AND (counted_at IS NULL OR counted_at <> finished_at)",
    values=", ".join(
        (
            *(f"{status} = {_LATEST.format(status=status)}" for status in ("passed", "failed", "skipped")),
            f"infrastructure = {_LATEST.format(status='infrastructure')}",
            f"evals = {_EVALS}",
            f"total = {_EVALS} * trials + {_EXTRA}",
            "counted_at = finished_at",
        )
    ),
)
