"""What travels between databases: what is still to be sent, who records a run here, what has arrived in part."""

from datetime import datetime

from sqlalchemy import Index, LargeBinary, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from convex_evals.scores.rows.base import ID, SHA256, Row


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
