"""What runs without being called: scheduled functions and cron jobs."""

from convex_evals.backend.scheduler.scheduler import Scheduler

__all__ = [
    "Scheduler",
]
