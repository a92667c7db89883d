"""When cron jobs run: schedules as `crons.ts` writes them, and the moments they mean."""

from convex_evals.backend.crons.expression import CronExpression
from convex_evals.backend.crons.schedule import first_run, next_run, parse_schedule, skipped_runs

__all__ = [
    "CronExpression",
    "first_run",
    "next_run",
    "parse_schedule",
    "skipped_runs",
]
