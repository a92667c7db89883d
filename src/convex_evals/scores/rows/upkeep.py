"""The tables of people and upkeep: tokens, sessions, labels, decisions about runs, data migrations, counted changes.

Also what travels between databases: what is still to be sent, who records a run here, what has arrived in part.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from convex_evals.core.verdicts import FailureClass
from convex_evals.scores.records import JobState, RunDecisionKind
from convex_evals.scores.rows.base import ID, SHA256, Row


class TokenRow(Row):
    """Of a token, only its SHA-256 is kept. `id` is the part of it that may be seen."""

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    sha256: Mapped[str] = mapped_column(SHA256)
    rights: Mapped[list[Any]]
    deployment: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]  # to the hour
    revoked_at: Mapped[datetime | None]


class SessionRow(Row):
    """A person who logged in with a token. Of the session, too, only the SHA-256 is kept."""

    __tablename__ = "sessions"
    __table_args__ = (Index(None, "expires_at"),)

    sha256: Mapped[str] = mapped_column(SHA256, primary_key=True)
    token_id: Mapped[str] = mapped_column(ForeignKey("tokens.id"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class LabelRow(Row):
    """What a person says about a failure. A later one about the same failure stands above an earlier one."""

    __tablename__ = "labels"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "eval"], ["planned_evals.run_id", "planned_evals.eval"]),
        CheckConstraint(
            "failure_class IN ('MODEL_FAULT', 'OVERLY_STRICT', 'AMBIGUOUS_TASK', 'KNOWN_GAP')", name="failure_class"
        ),
        Index(None, "run_id", "eval", "trial"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    run_id: Mapped[str] = mapped_column(ID)
    eval: Mapped[str]
    trial: Mapped[int]
    failure_class: Mapped[FailureClass]
    note: Mapped[str]
    who: Mapped[str]
    made_at: Mapped[datetime]


class RunDecisionRow(Row):
    """Who hid, deleted or marked a run, and why. It outlives the run, so nothing refers to that."""

    __tablename__ = "run_decisions"
    __table_args__ = (
        CheckConstraint("kind IN ('hide', 'unhide', 'delete', 'label', 'unlabel')", name="kind"),
        Index(None, "run_id", "kind"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    run_id: Mapped[str] = mapped_column(ID)
    kind: Mapped[RunDecisionKind]
    about: Mapped[str | None]  # the label; of a deleted run, what it was
    who: Mapped[str]
    why: Mapped[str]
    made_at: Mapped[datetime]


class ReleasedArtifactRow(Row):
    """An artifact of a deleted run. Unless another run has it too, it may be pruned."""

    __tablename__ = "released_artifacts"

    sha256: Mapped[str] = mapped_column(SHA256, primary_key=True)
    decision_id: Mapped[str] = mapped_column(ForeignKey("run_decisions.id"))


class PruningRow(Row):
    """Who removed the artifacts of deleted runs, and why."""

    __tablename__ = "prunings"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    artifacts: Mapped[int]
    who: Mapped[str]
    why: Mapped[str]
    made_at: Mapped[datetime]


class DataMigrationRow(Row):
    """A job that fills what a revision of the tables has added. `done` of `total` rows are filled."""

    __tablename__ = "data_migrations"
    __table_args__ = (CheckConstraint("state IN ('pending', 'running', 'done')", name="state"),)

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    state: Mapped[JobState]
    done: Mapped[int]
    total: Mapped[int]
    worked_ms: Mapped[float]
    started_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class ChangeCountRow(Row):
    """How often one connection has changed a run. Triggers count; see `migrations/triggers.py`."""

    __tablename__ = "change_counts"

    subject: Mapped[str] = mapped_column(ID, primary_key=True)  # the run, or BENCHMARKS
    writer: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(BigInteger)


class DeploymentRow(Row):
    """What this database is: one row at most."""

    __tablename__ = "deployment"
    __table_args__ = (CheckConstraint("id = 1", name="only"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str]
    marked_at: Mapped[datetime]


class DeliveryRow(Row):
    """A run that is sent to a service, from its first record on. Triggers fill the outbox for whatever is in here."""

    __tablename__ = "deliveries"

    run_id: Mapped[str] = mapped_column(ID, primary_key=True)
    destination: Mapped[str] = mapped_column(primary_key=True)
    since: Mapped[datetime]
    refused: Mapped[str | None]  # why the service takes nothing more of this run


class OutboxRow(Row):
    """Something that a service has not got yet: not the records themselves, but where they are."""

    __tablename__ = "outbox"
    __table_args__ = (
        UniqueConstraint("destination", "kind", "key"),
        Index(None, "destination", "run_id", "id"),
        # Numbers are never used again, so whoever was slow to send one cannot take another off the list.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    destination: Mapped[str]
    run_id: Mapped[str] = mapped_column(ID)
    kind: Mapped[str] = mapped_column(String(16))
    key: Mapped[str]
    version: Mapped[int] = mapped_column(server_default=text("1"))  # counts changes since it is on the list


class LeaseRow(Row):
    """The runner that records a run here, for as long as it is heard from."""

    __tablename__ = "leases"

    run_id: Mapped[str] = mapped_column(ID, primary_key=True)
    holder: Mapped[str]
    host: Mapped[str]
    renewed_at: Mapped[datetime]
    ends_at: Mapped[datetime] = mapped_column(index=True)
    ended: Mapped[bool]  # the run was marked, because nothing was heard from its runner


class ArtifactPartRow(Row):
    """Part of a large artifact of which not all has arrived."""

    __tablename__ = "artifact_parts"

    sha256: Mapped[str] = mapped_column(SHA256, primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    content: Mapped[bytes] = mapped_column(LargeBinary)
    received_at: Mapped[datetime]
