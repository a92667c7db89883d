"""What happened: runs, attempts, steps, usage and artifacts, kept in a SQLite file or a PostgreSQL database."""

from typing import TYPE_CHECKING

from convex_evals.core.lazy import load_on_demand
from convex_evals.scores.grants import RIGHTS, TOKEN_MARK, Grant, NewToken, Right, TokenRecord
from convex_evals.scores.records import (
    GENERATED,
    Answer,
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
    JobStatus,
    LabelRecord,
    Mistake,
    OpenAttempt,
    Outcome,
    PendingEval,
    PlannedEval,
    Result,
    RunDecision,
    RunExport,
    RunFilter,
    RunKey,
    RunPlan,
    RunRecord,
    RunStatus,
    Upgrade,
    Usage,
)

if TYPE_CHECKING:
    from convex_evals.scores.backup import back_up, restore
    from convex_evals.scores.batches import (
        Batch,
        LeaseRenewal,
        MissingArtifacts,
        Received,
        Wanted,
        batch_of,
        decode_batch,
    )
    from convex_evals.scores.changes import Change, Pulse, differences
    from convex_evals.scores.integrity import BrokenReference, DamagedArtifact, Inspection, check_database
    from convex_evals.scores.leases import RENEWAL_SECONDS, Holder
    from convex_evals.scores.outbox import Parcel, Unsent
    from convex_evals.scores.pages import GridRow, GridStep, NamedModel, NamedRun, PageQueries, RunGrid
    from convex_evals.scores.remote import RemoteScores, checked_url, is_service
    from convex_evals.scores.schema import database_status, migrate_data, upgrade_database
    from convex_evals.scores.statements import counted_statements
    from convex_evals.scores.store import ScoresStore
    from convex_evals.scores.transfer import artifacts_of, encode
    from convex_evals.scores.uploads import PART

__all__ = [
    "GENERATED",
    "PART",
    "RENEWAL_SECONDS",
    "RIGHTS",
    "TOKEN_MARK",
    "Answer",
    "AttemptDetails",
    "AttemptRecord",
    "AttemptStatus",
    "Batch",
    "Benchmark",
    "BrokenReference",
    "Change",
    "CostSource",
    "Counts",
    "DamagedArtifact",
    "DatabaseStatus",
    "FailuresAlike",
    "Fingerprints",
    "Generation",
    "GenerationRecord",
    "Grant",
    "GridRow",
    "GridStep",
    "Holder",
    "Inspection",
    "JobStatus",
    "LabelRecord",
    "LeaseRenewal",
    "MissingArtifacts",
    "Mistake",
    "NamedModel",
    "NamedRun",
    "NewToken",
    "OpenAttempt",
    "Outcome",
    "PageQueries",
    "Parcel",
    "PendingEval",
    "PlannedEval",
    "Pulse",
    "Received",
    "RemoteScores",
    "Result",
    "Right",
    "RunDecision",
    "RunExport",
    "RunFilter",
    "RunGrid",
    "RunKey",
    "RunPlan",
    "RunRecord",
    "RunStatus",
    "ScoresStore",
    "TokenRecord",
    "Unsent",
    "Upgrade",
    "Usage",
    "Wanted",
    "artifacts_of",
    "back_up",
    "batch_of",
    "check_database",
    "checked_url",
    "counted_statements",
    "database_status",
    "decode_batch",
    "differences",
    "encode",
    "is_service",
    "migrate_data",
    "restore",
    "upgrade_database",
]

# These need SQLAlchemy; the types above must cost nothing.
__getattr__ = load_on_demand(
    __name__,
    {
        "backup": ("back_up", "restore"),
        "changes": ("Change", "Pulse", "differences"),
        "batches": ("Batch", "LeaseRenewal", "MissingArtifacts", "Received", "Wanted", "batch_of", "decode_batch"),
        "leases": ("RENEWAL_SECONDS", "Holder"),
        "outbox": ("Parcel", "Unsent"),
        "integrity": ("BrokenReference", "DamagedArtifact", "Inspection", "check_database"),
        "pages": ("GridRow", "GridStep", "NamedModel", "NamedRun", "PageQueries", "RunGrid"),
        "remote": ("RemoteScores", "checked_url", "is_service"),
        "schema": ("database_status", "migrate_data", "upgrade_database"),
        "statements": ("counted_statements",),
        "store": ("ScoresStore",),
        "transfer": ("artifacts_of", "encode"),
        "uploads": ("PART",),
    },
)
