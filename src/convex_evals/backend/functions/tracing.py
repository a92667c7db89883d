"""What a call did to the database, call by call: for tests and graders that measure work instead of guessing it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from convex_evals.backend.deployed import FunctionPath, UdfType

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction


@dataclass(frozen=True, slots=True)
class TracedCall:
    """One transaction, or an action (which has no transaction of its own and reads nothing)."""

    path: FunctionPath
    udf_type: UdfType
    documents_read: int = 0
    bytes_read: int = 0
    documents_written: int = 0
    bytes_written: int = 0
    database_queries: int = 0
    functions_scheduled: int = 0
    indexes: tuple[str, ...] = ()  # "messages.by_channel"; full scans are "messages.by_creation_time", gets "….by_id"


@dataclass(slots=True)
class Tracer:
    """Collects the calls that one request causes."""

    calls: list[TracedCall] = field(default_factory=list)

    def add(self, path: FunctionPath, udf_type: UdfType, transaction: "Transaction | None" = None) -> None:
        if transaction is None:
            self.calls.append(TracedCall(path, udf_type))
            return
        usage = transaction.usage
        self.calls.append(
            TracedCall(
                path,
                udf_type,
                usage.documents_read,
                usage.bytes_read,
                usage.documents_written,
                usage.bytes_written,
                usage.database_queries,
                usage.functions_scheduled,
                indexes_read(transaction),
            )
        )

    @property
    def documents_read(self) -> int:
        return sum(call.documents_read for call in self.calls)

    @property
    def bytes_read(self) -> int:
        return sum(call.bytes_read for call in self.calls)

    @property
    def documents_written(self) -> int:
        return sum(call.documents_written for call in self.calls)

    @property
    def indexes(self) -> frozenset[str]:
        return frozenset(index for call in self.calls for index in call.indexes)


def indexes_read(transaction: "Transaction") -> tuple[str, ...]:
    """The names of the indexes that user code has read."""
    return tuple(sorted(set(_indexes(transaction))))


def _indexes(transaction: "Transaction") -> Iterator[str]:
    for storage in transaction.read_set.user:
        namespace, number, _ = storage.split("/", 2)
        catalog = transaction.catalog(namespace)
        table = catalog.tables.get(catalog.table_names.get(int(number), ""))
        for index in table.indexes if table else ():
            if index.storage == storage:
                yield f"{index.table}.{index.name}"
