"""Intake of records from other machines: a union of sets. A record that is here already changes nothing.

What is recorded never changes, except that something open is finished and that a run goes on. Of two versions, the
later one wins, and whatever else they say must be the same:

| record        | the later version                                                    |
| ------------- | -------------------------------------------------------------------- |
| an attempt    | is not running any more                                              |
| a work period | has ended                                                            |
| a run         | has more work periods; if there are as many, it was finished later   |
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import structs
from sqlalchemy import select
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from convex_evals.core.errors import ConflictError, IncompleteError
from convex_evals.core.ids import prefix
from convex_evals.scores import artifacts, leases
from convex_evals.scores.counts import keep_counts, provisional_counts
from convex_evals.scores.database import Database, upserting
from convex_evals.scores.leases import Holder
from convex_evals.scores.rows import AttemptRow, GenerationRow, Row, RunDecisionRow, RunRow, WorkPeriodRow
from convex_evals.scores.runs import model_id
from convex_evals.scores.transfer import ROWS, Record, artifacts_of, key_of, record_of, row_of, values_of

_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
_OUTCOME: Final = ("failed_step", "failure", "tests_passed", "tests_total", "duration_ms", "cpu_ms", "broken", "notes")
_CHANGING: Final[dict[type[Row], frozenset[str]]] = {
    RunRow: frozenset({"status", "reason", "finished_at", "periods"}),
    WorkPeriodRow: frozenset({"ended_at"}),
    AttemptRow: frozenset({"status", "finished_at", *_OUTCOME}),
}
_DECIDED_HERE: Final[dict[type[Row], frozenset[str]]] = {RunRow: frozenset({"labels", "model_created_at"})}
"""What is taken from the first version that arrives and is not compared after that."""


class Intake:
    """`holder` is the runner at work that sends; without one, someone catches up and needs no lease."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take_in(self, run_id: str, records: Sequence[Record], holder: Holder | None = None) -> int:
        """Returns how many were new or newer. Raises ConflictError, IncompleteError or LeaseError; then none was."""
        with self._database.writing() as session:
            _refuse_deleted(session, run_id)
            leases.revive(session, run_id)
            taken = take_in(session, run_id, records)
            if holder is not None:
                _renew_or_give_up(session, run_id, holder)
            return taken


def take_in(session: Session, run_id: str, records: Sequence[Record]) -> int:
    _check_one_run(session, run_id, records)
    _check_references(session, records)
    by_row: defaultdict[type[Row], list[Record]] = defaultdict(list)
    for record in records:
        by_row[row_of(record)].append(record)
    try:
        taken = sum(_take_in_rows(session, row, by_row[row]) for row in ROWS if by_row[row])
        _count(session, run_id)
        return taken
    except (IntegrityError, DataError) as error:
        raise ConflictError(f"The records of run {prefix(run_id)} contradict each other or what is here.") from error


def _count(session: Session, run_id: str) -> None:
    run = session.get_one(RunRow, run_id, populate_existing=True)
    if run.finished_at is not None:
        keep_counts(session, run, run.finished_at)
        session.flush()


def _renew_or_give_up(session: Session, run_id: str, holder: Holder) -> None:
    leases.renew(session, run_id, holder)
    if session.get_one(RunRow, run_id).status != "running":
        leases.give_up(session, run_id, holder)


def _refuse_deleted(session: Session, run_id: str) -> None:
    deleted = select(RunDecisionRow).where(RunDecisionRow.run_id == run_id, RunDecisionRow.kind == "delete")
    decision = session.scalar(deleted.limit(1))
    if decision is not None:
        raise ConflictError(f"Run {prefix(run_id)} was deleted here by {decision.who}: {decision.why.rstrip('.')}.")


def _check_one_run(session: Session, run_id: str, records: Iterable[Record]) -> None:
    """Everything is about this run, and the run and the attempts that records are about are here or among them."""
    runs, attempts, about = set[str](), set[str](), set[str]()
    for record in records:
        row, values = row_of(record), structs.asdict(record)
        runs.add(values["id"] if row is RunRow else values.get("run_id", run_id))
        attempts |= {values["id"]} if row is AttemptRow else set()
        about |= {values["attempt_id"]} if "attempt_id" in values else set()
    known = session.scalars(select(AttemptRow).where(AttemptRow.id.in_(about - attempts)))
    runs_of = {attempt.id: attempt.run_id for attempt in known}
    if (runs | set(runs_of.values())) - {run_id}:
        raise ConflictError(f"These records are not all of run {prefix(run_id)}; send each run on its own.")
    if missing := about - attempts - set(runs_of):
        raise IncompleteError(f"Attempt {prefix(min(missing))} is not here; send the whole run {prefix(run_id)}.")
    if not any(row_of(record) is RunRow for record in records) and session.get(RunRow, run_id) is None:
        raise IncompleteError(f"Run {prefix(run_id)} is not here; send all of it.")


def _check_references(session: Session, records: Sequence[Record]) -> None:
    wanted = set(artifacts_of(records))
    if missing := wanted - artifacts.kept(session, wanted, locked=True):
        raise IncompleteError(f"Artifact {min(missing)} is not here; send it before the records that name it.")
    generations = [structs.asdict(record) for record in records if row_of(record) is GenerationRow]
    sources = {each["reused_from"] for each in generations} - {None} - {each["attempt_id"] for each in generations}
    known = session.scalars(select(GenerationRow.attempt_id).where(GenerationRow.attempt_id.in_(sources)))
    if missing := sources - set(known):
        raise IncompleteError(f"The answer of attempt {prefix(min(missing))} is not here; send its run before.")


def _take_in_rows(session: Session, row: type[Row], records: Iterable[Record]) -> int:
    keys = tuple(column.name for column in key_of(row))
    by_key = {tuple(getattr(record, name) for name in keys): record for record in records}
    new = _insert_new(session, row, by_key.values())
    return len(new) + sum(_merge(session, record, key) for key, record in by_key.items() if key not in new)


def _insert_new(session: Session, row: type[Row], records: Iterable[Record]) -> set[tuple[Any, ...]]:
    """The keys of those that were not here."""
    alike: defaultdict[frozenset[str], list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        values = values_of(record)
        if row is RunRow:
            values |= {"model_id": _model_id(session, record), **provisional_counts(values["finished_at"])}
        alike[frozenset(values)].append(values)
    statement = upserting(session, row).on_conflict_do_nothing().returning(*key_of(row))
    return {tuple(key) for values in alike.values() for key in session.execute(statement, values)}


def _model_id(session: Session, run: Record) -> int:
    told = structs.asdict(run)
    return model_id(session, told["model"], told["provider"], told["model_created_at"])


def _merge(session: Session, record: Record, key: tuple[Any, ...]) -> bool:
    """Whether it is a later version of what is here, which it replaces."""
    row = row_of(record)
    found = session.get(row, key, populate_existing=True)
    if found is None:  # something else is where it belongs
        raise _conflict(record)
    here, changing = record_of(session, found), _CHANGING.get(row, frozenset())
    record = _with(record, here, _DECIDED_HERE.get(row, ()))
    if record == here:
        return False
    if _with(record, here, changing) != here or _version(record) == _version(here):
        raise _conflict(record)
    if _version(record) < _version(here):
        return False
    values = values_of(record)
    for name in changing & values.keys():
        setattr(found, name, values[name])
    if isinstance(found, RunRow):
        for name, value in provisional_counts(found.finished_at).items():
            setattr(found, name, value)
    session.flush()
    return True


def _with(record: Record, other: Record, names: Iterable[str]) -> Record:
    return structs.replace(record, **{name: getattr(other, name) for name in names})


def _version(record: Record) -> tuple[int, datetime]:
    told = structs.asdict(record)
    if "periods" in told:
        return told["periods"], told["finished_at"] or _BEGINNING
    return int((told.get("finished_at") or told.get("ended_at")) is not None), _BEGINNING


def _conflict(record: Record) -> ConflictError:
    row = row_of(record)
    key = "/".join(str(getattr(record, column.name)) for column in key_of(row))
    return ConflictError(
        f"{row.__tablename__} {key} is recorded differently here; another runner may have recorded it."
    )
