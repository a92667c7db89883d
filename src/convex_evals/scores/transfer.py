"""How the records of a run travel from one database to another: as rows, typed by their tables, in requests.

A record is a row without what only one database knows (the number of a model, whether a run is hidden, its counts). Its
type is made from the table, so a column that is added travels, too.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Union, cast, get_args, get_type_hints

import msgspec
from msgspec import Meta, Raw, Struct
from sqlalchemy import JSON, Column, String, Table, select
from sqlalchemy.orm import Session

from convex_evals.core.errors import OutdatedError
from convex_evals.scores import counts
from convex_evals.scores.leases import Holder
from convex_evals.scores.rows import (
    ID,
    SHA256,
    AttemptRow,
    DiagnosticRow,
    ExtraTrialRow,
    GenerationRow,
    LabelRow,
    ModelRow,
    PlannedEvalRow,
    Row,
    RunRow,
    StepRow,
    TestResultRow,
    UsageRow,
    WorkPeriodRow,
)
from convex_evals.scores.schema import REVISIONS

ROWS: Final[tuple[type[Row], ...]] = (
    RunRow,
    PlannedEvalRow,
    ExtraTrialRow,
    WorkPeriodRow,
    AttemptRow,
    GenerationRow,
    UsageRow,
    StepRow,
    DiagnosticRow,
    TestResultRow,
    LabelRow,
)
"""What travels, in an order in which each row finds the rows that it refers to."""

_LOCAL: Final = {"model_id", "hidden", "counted_at", *counts.KEPT}
_WORD: Final = Annotated[str, Meta(pattern="^[0-9a-z_-]+$", max_length=32)]
_HASH: Final = Annotated[str, Meta(pattern="^[0-9a-f]+$", min_length=64, max_length=64)]
_NUMBER: Final = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_LARGE_NUMBER: Final = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_MOMENT: Final = Annotated[datetime, Meta(tz=True)]
_OF_RUN: Final = (("model", str), ("provider", str), ("model_created_at", _MOMENT), ("periods", _NUMBER))
"""A run names its model. How often it was worked on says which of two versions of it is the later one."""


class Record(Struct, frozen=True, forbid_unknown_fields=True, tag_field="table"):
    """One row; each table has a type of its own below this one."""


def row_of(record: Record) -> type[Row]:
    return _ROWS_BY_TYPE[type(record)]


def columns_of(row: type[Row]) -> tuple[Column[Any], ...]:
    """Those that travel."""
    return tuple(column for column in _table(row).columns if column.name not in _LOCAL)


def key_of(row: type[Row]) -> tuple[Column[Any], ...]:
    return tuple(_table(row).primary_key)


def _table(row: type[Row]) -> Table:
    return cast(Table, row.__table__)


def records_of(session: Session, rows: Iterable[Row]) -> tuple[Record, ...]:
    return tuple(record_of(session, row) for row in rows)


def record_of(session: Session, row: Row) -> Record:
    values = {column.name: getattr(row, column.name) for column in columns_of(type(row))}
    texts = {name: json.dumps(values[name]) for name in _json_columns(type(row)) if values[name] is not None}
    more = _of_run(session, row) if isinstance(row, RunRow) else {}
    return RECORD_TYPES[type(row)](**{**values, **texts, **more})


def values_of(record: Record) -> dict[str, Any]:
    """The values of the row's columns. JSON that is not there is left out, or it would become JSON's null."""
    row = row_of(record)
    values = {column.name: getattr(record, column.name) for column in columns_of(row)}
    for name in _json_columns(row):
        text = values.pop(name)
        if text is not None:
            values[name] = json.loads(text)
    return values


def plain(record: Record) -> Record:
    """The record as this program would write it. Raises ValueError when what should be JSON is not.

    Records hold JSON as text, because it may hold what no other text can (half a character).
    """
    texts = {name: getattr(record, name) for name in _json_columns(row_of(record))}
    read = {name: json.dumps(json.loads(text)) for name, text in texts.items() if text is not None}
    return msgspec.structs.replace(record, **read)


def artifacts_of(records: Iterable[Record]) -> tuple[str, ...]:
    """What records refer to, each once."""
    names = (
        getattr(record, column.name)
        for record in records
        for column in columns_of(row_of(record))
        if any(key.column.table.name == "artifacts" for key in column.foreign_keys)
    )
    return tuple(dict.fromkeys(name for name in names if name is not None))


def encode(value: object) -> bytes:
    return msgspec.json.encode(value)


def _record_type(row: type[Row]) -> type[Record]:
    hints = get_type_hints(row)
    fields: list[Any] = [(column.name, *_field(column, hints[column.name])) for column in columns_of(row)]
    # Those that may be missing come last: an older runner does not know of newer columns.
    fields.sort(key=len)
    if row is RunRow:
        fields[:0] = _OF_RUN
    made = msgspec.defstruct(
        f"{row.__name__.removesuffix('Row')}Record", fields, bases=(Record,), tag=row.__tablename__, frozen=True
    )
    assert issubclass(made, Record)
    return made


def _field(column: Column[Any], hint: Any) -> tuple[Any, ...]:
    inner = get_args(hint)[0]
    bare = next((each for each in get_args(inner) if each is not type(None)), inner) if column.nullable else inner
    kind = _kind(column, bare)
    return (kind | None, None) if column.nullable else (kind,)


def _kind(column: Column[Any], hint: Any) -> Any:
    if isinstance(column.type, JSON):
        return str
    if isinstance(column.type, String) and hint is str:
        return {ID.length: _WORD, SHA256.length: _HASH}.get(column.type.length, str)
    if hint is int:
        return _LARGE_NUMBER if column.type.__visit_name__ == "big_integer" else _NUMBER
    return _MOMENT if hint is datetime else hint


def _json_columns(row: type[Row]) -> Sequence[str]:
    return [column.name for column in columns_of(row) if isinstance(column.type, JSON)]


def _of_run(session: Session, row: RunRow) -> dict[str, Any]:
    model = session.get_one(ModelRow, row.model_id)
    return {
        "model": model.name,
        "provider": model.provider,
        "model_created_at": model.created_at,
        "periods": _periods(session, row),
    }


def _periods(session: Session, row: RunRow) -> int:
    """With the one that begins when a run that was taken up tries its first eval."""
    ends = session.scalars(select(WorkPeriodRow.ended_at).where(WorkPeriodRow.run_id == row.id)).all()
    return len(ends) + (row.status == "running" and None not in ends)


# Made once, while this is imported: threads that made them at the same time would each have types of their own.
RECORD_TYPES: Final[Mapping[type[Row], type[Record]]] = {row: _record_type(row) for row in ROWS}
ANY_RECORD: Final[Any] = Union[tuple(RECORD_TYPES.values())]  # noqa: UP007 - made while running
"""The type of a record of any table, told apart by its field `table`."""
_ROWS_BY_TYPE: Final[Mapping[type[Record], type[Row]]] = {record: row for row, record in RECORD_TYPES.items()}


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
