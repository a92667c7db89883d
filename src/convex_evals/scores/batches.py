"""What runners and services say to each other: requests to record something, and what is answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Raw

from convex_evals.core.errors import OutdatedError
from convex_evals.scores.leases import Holder
from convex_evals.scores.schema import REVISIONS
from convex_evals.scores.transfer import ANY_RECORD, Record, plain

MOST_ARTIFACTS: Final = 1000
MOST_RUNS: Final = 100

Id = Annotated[str, Meta(pattern="^[0-9a-z_-]+$", max_length=32)]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]+$", min_length=64, max_length=64)]


@dataclass(frozen=True, slots=True)
class Envelope:
    run_id: Id
    revision: Annotated[str, Meta(pattern="^[0-9]+$", max_length=8)]
    records: Raw
    holder: Holder | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of one run, in an order in which they can be recorded. `revision` is that of the sender's tables."""

    run_id: Id
    revision: str
    records: Sequence[Any]
    holder: Holder | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    artifacts: Annotated[list[Hash], Meta(max_length=MOST_ARTIFACTS)]


@dataclass(frozen=True, slots=True)
class MissingArtifacts:
    missing: dict[str, int]


@dataclass(frozen=True, slots=True)
class LeaseRenewal:
    runs: Annotated[list[Id], Meta(max_length=MOST_RUNS)]
    holder: Holder


@dataclass(frozen=True, slots=True)
class Received:
    """How much of it was new."""

    new: int


def batch_of(run_id: str, records: Sequence[Record], holder: Holder | None = None) -> Batch:
    return Batch(run_id, REVISIONS.head, records, holder)


def decode_batch(body: bytes) -> Batch:
    """Raises msgspec.DecodeError, or OutdatedError when the sender's tables are newer than these."""
    envelope = msgspec.json.decode(body, type=Envelope)
    if int(envelope.revision) > int(REVISIONS.head):
        raise OutdatedError(
            f"The tables of this server have version {REVISIONS.head}, and records of version {envelope.revision} were "
            "sent; update the server."
        )
    found: tuple[Record, ...] = msgspec.json.decode(envelope.records, type=tuple[ANY_RECORD, ...])
    try:
        records = tuple(plain(record) for record in found)
    except ValueError as error:
        raise msgspec.ValidationError("a field that holds JSON holds something else") from error
    return Batch(envelope.run_id, envelope.revision, records, envelope.holder)
