"""The outbox: what services have not got yet of the runs that are sent to them.

Triggers fill it in the transaction that records something (`migrations/triggers.py`). An entry says where records are,
not what they are, so what is sent is always their latest version. It stays until that version has arrived.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Select, and_, delete, func, literal, select, tuple_, update
from sqlalchemy.orm import Session

from convex_evals.scores.database import Database, insert_if_new, upserting
from convex_evals.scores.rows import (
    AttemptRow,
    DeliveryRow,
    DiagnosticRow,
    ExtraTrialRow,
    GenerationRow,
    LabelRow,
    OutboxRow,
    PlannedEvalRow,
    Row,
    RunRow,
    StepRow,
    TestResultRow,
    UsageRow,
    WorkPeriodRow,
)
from convex_evals.scores.transfer import Record, artifacts_of, encode, records_of

MOST_ENTRIES: Final = 200
BATCH_BYTES: Final = 1 << 20
"""A batch is closed once it is as large as this; one entry may be larger."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """Records of one run for one service, and the entries that are done when they have arrived."""

    destination: str
    run_id: str
    records: tuple[Record, ...]
    artifacts: tuple[str, ...]
    entries: tuple[tuple[int, int], ...]  # number and version


@dataclass(frozen=True, slots=True)
class Unsent:
    """What a service has not got of a run. `refused` says why it does not want it."""

    destination: str
    run_id: str
    entries: int
    refused: str | None


class Outbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    def follow(self, run_id: str, destination: str) -> None:
        """From now on everything about the run is sent there; it need not exist yet."""
        with self._database.writing() as session:
            insert_if_new(session, DeliveryRow, run_id=run_id, destination=destination, since=datetime.now(UTC))

    def send_again(self, run_id: str, destination: str) -> None:
        """The same, and all that is recorded of it already is sent, too, whether it was before or not."""
        with self._database.writing() as session:
            _list_everything(session, run_id, destination)

    def next_parcel(self, destination: str, runs: Sequence[str] = ()) -> Parcel | None:
        """What is to be sent next: of one run, in the order in which it was recorded. `runs`: only of these."""
        with self._database.reading() as session:
            parcel, source = _next_parcel(session, destination, runs)
        if source is None:
            return parcel
        self.send_again(source, destination)
        return self.next_parcel(destination, (source,))

    def delivered(self, parcel: Parcel) -> None:
        """What changed since the parcel was packed stays on the list."""
        if parcel.entries:
            done = tuple_(OutboxRow.id, OutboxRow.version).in_(parcel.entries)
            with self._database.writing() as session:
                session.execute(delete(OutboxRow).where(done))

    def refuse(self, destination: str, run_id: str, reason: str) -> None:
        """The service does not want this run, so nothing more of it is sent until someone asks for that."""
        of_run = (DeliveryRow.destination == destination, DeliveryRow.run_id == run_id)
        with self._database.writing() as session:
            session.execute(update(DeliveryRow).where(*of_run).values(refused=reason))

    def unsent(self, destination: str | None = None, runs: Sequence[str] = ()) -> tuple[Unsent, ...]:
        """By destination and run; the oldest first."""
        query = (
            select(DeliveryRow.destination, DeliveryRow.run_id, func.count(), DeliveryRow.refused)
            .join(OutboxRow, _same_delivery())
            .group_by(DeliveryRow.destination, DeliveryRow.run_id, DeliveryRow.refused)
            .order_by(func.min(OutboxRow.id))
        )
        if destination is not None:
            query = query.where(DeliveryRow.destination == destination)
        if runs:
            query = query.where(DeliveryRow.run_id.in_(runs))
        with self._database.reading() as session:
            return tuple(Unsent(*row) for row in session.execute(query))

    def records(self, run_id: str) -> tuple[Record, ...]:
        """Everything that would be sent of a run, in the same order on both sides of a transfer."""
        with self._database.reading() as session:
            found = {kind: sorted(session.scalars(keys)) for kind, keys in _keys(run_id).items()}
            rows = (row for kind, keys in found.items() for key in keys for row in _UNITS[kind](session, key))
            return records_of(session, rows)

    def destinations(self, run_id: str) -> tuple[str, ...]:
        """Where a run is sent."""
        query = select(DeliveryRow.destination).where(DeliveryRow.run_id == run_id).order_by(DeliveryRow.since)
        with self._database.reading() as session:
            return tuple(session.scalars(query))


def _same_delivery() -> Any:
    return and_(OutboxRow.destination == DeliveryRow.destination, OutboxRow.run_id == DeliveryRow.run_id)


def _next_parcel(session: Session, destination: str, runs: Sequence[str]) -> tuple[Parcel | None, str | None]:
    """Or the run that must be sent before, because this one grades its answers again; both wait if that is refused."""
    wanted = select(OutboxRow).join(DeliveryRow, _same_delivery())
    wanted = wanted.where(OutboxRow.destination == destination, DeliveryRow.refused.is_(None)).order_by(OutboxRow.id)
    if runs:
        wanted = wanted.where(OutboxRow.run_id.in_(runs))
    passed_over: list[str] = []
    while (first := session.scalar(wanted.where(OutboxRow.run_id.not_in(passed_over)).limit(1))) is not None:
        entries = session.scalars(wanted.where(OutboxRow.run_id == first.run_id).limit(MOST_ENTRIES)).all()
        source = _source(session, destination, entries)
        if source is None or not _knows(session, destination, source):
            return (_packed(session, entries), None) if source is None else (None, source)
        found = _next_parcel(session, destination, (source,))
        if found != (None, None):
            return found
        passed_over.append(first.run_id)
    return None, None


def _source(session: Session, destination: str, entries: Iterable[OutboxRow]) -> str | None:
    """The run of an answer that is graded again, if the service may not have got it."""
    graded = [entry.key for entry in entries if entry.kind == "generation"]
    asked = select(GenerationRow.reused_from).where(GenerationRow.attempt_id.in_(graded))
    own = next((entry.run_id for entry in entries), "")
    sources = select(AttemptRow.run_id).where(AttemptRow.id.in_(asked), AttemptRow.run_id != own).distinct()
    followed = select(DeliveryRow.run_id).where(DeliveryRow.destination == destination)
    waiting = select(OutboxRow.run_id).where(OutboxRow.destination == destination)
    unknown = sources.where(AttemptRow.run_id.not_in(followed) | AttemptRow.run_id.in_(waiting))
    return session.scalar(unknown.limit(1)) if graded else None


def _knows(session: Session, destination: str, run_id: str) -> bool:
    return session.get(DeliveryRow, (run_id, destination)) is not None


def _packed(session: Session, entries: Sequence[OutboxRow]) -> Parcel:
    records: list[Record] = []
    taken, size = 0, 0
    for entry in entries:
        found = records_of(session, _UNITS[entry.kind](session, entry.key))
        size += len(encode(found))
        if taken and size > BATCH_BYTES:
            break
        records += found
        taken += 1
    first, done = entries[0], tuple((entry.id, entry.version) for entry in entries[:taken])
    return Parcel(first.destination, first.run_id, tuple(records), artifacts_of(records), done)


def _rows(session: Session, row: type[Row], *conditions: Any) -> list[Row]:
    return list(session.scalars(select(row).where(*conditions).order_by(*row.__table__.primary_key)))


def _run(session: Session, run_id: str) -> list[Row]:
    planned = (PlannedEvalRow, ExtraTrialRow, WorkPeriodRow)
    more = [found for row in planned for found in _rows(session, row, row.run_id == run_id)]
    return _rows(session, RunRow, RunRow.id == run_id) + more


def _attempt(session: Session, key: str) -> list[Row]:
    return _rows(session, AttemptRow, AttemptRow.id == key)


def _generation(session: Session, key: str) -> list[Row]:
    """Or only what was paid, where no answer was of use."""
    asked = _rows(session, GenerationRow, GenerationRow.attempt_id == key)
    return asked + _rows(session, UsageRow, UsageRow.attempt_id == key)


def _step(session: Session, key: str) -> list[Row]:
    attempt, _, name = key.partition("/")
    steps = _rows(session, StepRow, StepRow.attempt_id == attempt, StepRow.name == name)
    return steps + _rows(session, DiagnosticRow, DiagnosticRow.attempt_id == attempt, DiagnosticRow.step == name)


def _tests(session: Session, key: str) -> list[Row]:
    return _rows(session, TestResultRow, TestResultRow.attempt_id == key)


def _label(session: Session, key: str) -> list[Row]:
    return _rows(session, LabelRow, LabelRow.id == key)


_UNITS: Final[Mapping[str, Callable[[Session, str], list[Row]]]] = {
    "run": _run,
    "attempt": _attempt,
    "generation": _generation,
    "step": _step,
    "tests": _tests,
    "label": _label,
}
"""What the kinds of entries stand for."""


def _list_everything(session: Session, run_id: str, destination: str) -> None:
    insert_if_new(session, DeliveryRow, run_id=run_id, destination=destination, since=datetime.now(UTC))
    of_run = (DeliveryRow.destination == destination, DeliveryRow.run_id == run_id)
    session.execute(update(DeliveryRow).where(*of_run).values(refused=None))
    listed_before = (OutboxRow.destination == destination, OutboxRow.run_id == run_id)
    session.execute(delete(OutboxRow).where(*listed_before))  # or the order would not be right
    for kind, keys in _keys(run_id).items():
        key = keys.subquery().c.key
        # SQLite cannot read the statement without a condition.
        listed = select(literal(destination), literal(run_id), literal(kind), key).where(key.is_not(None))
        columns = ["destination", "run_id", "kind", "key"]
        session.execute(upserting(session, OutboxRow).from_select(columns, listed).on_conflict_do_nothing())


def _keys(run_id: str) -> dict[str, Select[Any]]:
    """Of everything that is recorded of a run, in an order in which it can be sent."""
    of_run = select(AttemptRow.id).where(AttemptRow.run_id == run_id)
    steps = select((StepRow.attempt_id + "/" + StepRow.name).label("key")).where(StepRow.attempt_id.in_(of_run))
    return {
        "run": select(RunRow.id.label("key")).where(RunRow.id == run_id),
        "attempt": select(AttemptRow.id.label("key")).where(AttemptRow.run_id == run_id).order_by(AttemptRow.number),
        "generation": select(AttemptRow.id.label("key"))
        .outerjoin(GenerationRow, GenerationRow.attempt_id == AttemptRow.id)
        .outerjoin(UsageRow, UsageRow.attempt_id == AttemptRow.id)
        .where(AttemptRow.run_id == run_id)
        .where(GenerationRow.attempt_id.is_not(None) | UsageRow.attempt_id.is_not(None))
        .order_by(GenerationRow.recorded_at),
        "step": steps,
        "tests": select(TestResultRow.attempt_id.label("key")).where(TestResultRow.attempt_id.in_(of_run)).distinct(),
        "label": select(LabelRow.id.label("key")).where(LabelRow.run_id == run_id),
    }
