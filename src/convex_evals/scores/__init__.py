"""What happened: runs, attempts, steps, usage and artifacts, kept in a SQLite file or a PostgreSQL database."""

from typing import TYPE_CHECKING

from convex_evals.core.lazy import load_on_demand
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

# These need SQLAlchemy; the types above must cost nothing.
__getattr__ = load_on_demand(__name__, {"schema": ("database_status", "upgrade_database"), "store": ("ScoresStore",)})
