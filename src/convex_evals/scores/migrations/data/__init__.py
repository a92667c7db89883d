"""Data migrations: they fill, a batch at a time, what one revision has added and a later one demands."""

from convex_evals.scores.migrations.data.counts_of_runs import COUNT_FINISHED_RUNS
from convex_evals.scores.migrations.data.migration import DataMigration, refuse_while_pending, register

__all__ = ["COUNT_FINISHED_RUNS", "DATA_MIGRATIONS", "DataMigration", "refuse_while_pending", "register"]

DATA_MIGRATIONS: tuple[DataMigration, ...] = (COUNT_FINISHED_RUNS,)
