"""What happened: runs, attempts, steps, usage and artifacts, kept in a SQLite file or a PostgreSQL database."""

from typing import TYPE_CHECKING

from convex_evals.scores.records import (
    AttemptDetails,
    AttemptRecord,
    AttemptStatus,
    Benchmark,
    CostSource,
    Counts,
    DatabaseStatus,
    FailuresAlike,
    Fingerprints,
    Generation,
    GenerationRecord,
    OpenAttempt,
    Outcome,
    PendingEval,
    PlannedEval,
    RunExport,
    RunFilter,
    RunPlan,
    RunRecord,
    RunStatus,
    Upgrade,
    Usage,
)

if TYPE_CHECKING:
    from convex_evals.scores.schema import database_status, upgrade_database
    from convex_evals.scores.store import ScoresStore

__all__ = [
    "AttemptDetails",
    "AttemptRecord",
    "AttemptStatus",
    "Benchmark",
    "CostSource",
    "Counts",
    "DatabaseStatus",
    "FailuresAlike",
    "Fingerprints",
    "Generation",
    "GenerationRecord",
    "OpenAttempt",
    "Outcome",
    "PendingEval",
    "PlannedEval",
    "RunExport",
    "RunFilter",
    "RunPlan",
    "RunRecord",
    "RunStatus",
    "ScoresStore",
    "Upgrade",
    "Usage",
    "database_status",
    "upgrade_database",
]


def __getattr__(name: str) -> object:
    # What needs SQLAlchemy is loaded when it is asked for, so that the types above cost nothing.
    if name == "ScoresStore":
        from convex_evals.scores.store import ScoresStore

        return ScoresStore
    if name in ("database_status", "upgrade_database"):
        from convex_evals.scores import schema

        return getattr(schema, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
