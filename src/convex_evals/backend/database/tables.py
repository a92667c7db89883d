"""Tables and their indexes: user tables from the catalog, and the private system tables that every namespace has."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Final

from convex_evals.backend.database.documents import Document
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS
from convex_evals.backend.schema import Index, IndexSpec, NamedIndex, SearchIndexSpec, VectorIndexSpec
from convex_evals.backend.values import Value, field_at, sort_key, split_path

BY_ID: Final = "by_id"
BY_CREATION_TIME: Final = "by_creation_time"

# Indexes by which the backend itself looks up private rows. User code cannot name them.
SYSTEM_INDEXES: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "_tables": {"by_name": ("name",)},
    "_index": {"by_table": ("table",)},
    "_environment_variables": {"by_name": ("name",)},
    "_session_requests": {"by_session": ("sessionId", "requestId")},
    "_modules": {"by_path": ("path",)},
    "_cron_jobs": {"by_name": ("name",)},
    "_cron_job_logs": {"by_name_and_ts": ("name", "ts")},
    "_cron_next_run": {"by_cron_job": ("cronJobId",), "by_next_ts": ("nextTs",)},
    "_scheduled_jobs": {
        "by_next_ts": ("nextTs",),
        "by_completed_ts": ("completedTs",),
        "by_path_and_next_ts": ("udfPath", "nextTs"),
    },
    "_file_storage": {"by_storage_id": ("storageId",)},
    "_components": {"by_parent_and_name": ("parent", "name")},
    "_function_handles": {"by_path": ("component", "path")},
    "_canonical_urls": {"by_request_destination": ("requestDestination",)},
}


@dataclass(frozen=True)
class TableIndex:
    """`storage` names its entries in the store: unique, also among indexes that replace each other under one name."""

    storage: str
    table: str
    spec: Index
    pending: bool = False  # built, but not in use before the push that created it is finished

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def row_id(self) -> str:
        """Of a user index: the id of its row in `_index`."""
        return self.storage.rpartition("/")[2]

    @property
    def named(self) -> NamedIndex:
        return NamedIndex(self.table, self.spec)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of a database index; the last one is `_creationTime`."""
        return self.spec.fields if isinstance(self.spec, IndexSpec) else ()

    @cached_property
    def key_fields(self) -> tuple[str, ...]:
        """The fields whose values make up the key, in order."""
        return self.fields if self.name == BY_ID else (*self.fields, "_id")

    def key_of(self, document: Document) -> bytes:
        if self.name == BY_CREATION_TIME:
            return document.key
        if self.name == BY_ID:
            return document.id_key
        value = document.value
        parts = [sort_key(field_at(value, path)) for path in self._paths]
        parts.append(document.key)
        return b"".join(parts)

    @cached_property
    def _paths(self) -> tuple[tuple[str, ...], ...]:
        return tuple(split_path(field) for field in self.fields[:-1])


def database_index(storage: str, table: str, name: str, fields: tuple[str, ...]) -> TableIndex:
    return TableIndex(f"{storage}/{name}", table, IndexSpec(name, fields))


def index_row(number: int, spec: Index, *, pending: bool) -> dict[str, Value]:
    """The row of `_index` for an index of the table with this number."""
    return {
        "table": number,
        "name": spec.name,
        "type": spec.type,
        "definition": spec.definition,  # type: ignore[dict-item]
        "staged": spec.staged,
        "pending": pending,
    }


def parse_index(storage: str, table: str, row: Document) -> TableIndex:
    return TableIndex(f"{storage}/{row.id}", table, _parse_spec(row.value), row.value["pending"] is True)


def _parse_spec(row: dict[str, Value]) -> Index:
    match row:
        case {"type": "database", "name": str(name), "staged": bool(staged), "definition": {"fields": list(fields)}}:
            return IndexSpec(name, _names(fields), staged)
        case {
            "type": "search",
            "name": str(name),
            "staged": bool(staged),
            "definition": {"searchField": str(field), "filterFields": list(filters)},
        }:
            return SearchIndexSpec(name, field, _names(filters), staged)
        case {
            "type": "vector",
            "name": str(name),
            "staged": bool(staged),
            "definition": {"vectorField": str(field), "dimensions": int(dimensions), "filterFields": list(filters)},
        }:
            return VectorIndexSpec(name, field, dimensions, _names(filters), staged)
        case _:
            raise ValueError(f"not a row of _index: {row}")


def _names(fields: list[Value]) -> tuple[str, ...]:
    return tuple(map(str, fields))


def split_index_name(full_name: str) -> tuple[str, str]:
    table, separator, name = full_name.partition(".")
    if not separator:
        raise DeveloperError(f"Invalid index name {full_name}: it must be a table and an index, joined by a period")
    return table, name


def index_not_found(table: str, index: str) -> DeveloperError:
    return DeveloperError(f"Index {table}.{index} not found.")


def check_usable(index: TableIndex) -> None:
    name = index.named.full_name
    if index.pending:
        raise DeveloperError(f"Index {name} is currently backfilling and not available to query yet.")
    if index.spec.staged:
        raise DeveloperError(f"Index {name} is currently staged and not available to query until it is enabled.")


@dataclass(frozen=True)
class Table:
    """`storage` names its rows in the store. `indexes` holds every index that is kept up to date."""

    namespace: str
    name: str
    number: int
    indexes: tuple[TableIndex, ...] = ()

    @classmethod
    def create(cls, namespace: str, name: str, number: int) -> "Table":
        storage = _storage(namespace, number)
        return cls(
            namespace,
            name,
            number,
            (
                database_index(storage, name, BY_ID, ("_id",)),
                database_index(storage, name, BY_CREATION_TIME, ("_creationTime",)),
            ),
        )

    @cached_property
    def storage(self) -> str:
        return _storage(self.namespace, self.number)

    @property
    def is_system(self) -> bool:
        return self.name.startswith("_")

    @property
    def by_id(self) -> TableIndex:
        return self.indexes[0]

    @property
    def by_creation_time(self) -> TableIndex:
        return self.indexes[1]

    @property
    def user_indexes(self) -> tuple[TableIndex, ...]:
        return self.indexes[2:]

    def index(self, name: str) -> TableIndex | None:
        """An index in use wins over the pending one that will replace it."""
        found = [index for index in self.indexes if index.name == name]
        return next((index for index in found if not index.pending), found[0] if found else None)

    def with_indexes(self, indexes: tuple[TableIndex, ...]) -> "Table":
        return replace(self, indexes=self.indexes[:2] + indexes)


@cache
def system_table(namespace: str, name: str) -> Table:
    table = Table.create(namespace, name, SYSTEM_TABLE_NUMBERS[name])
    indexes = SYSTEM_INDEXES.get(name, {})
    return table.with_indexes(
        tuple(
            database_index(table.storage, name, index, (*fields, "_creationTime")) for index, fields in indexes.items()
        )
    )


def _storage(namespace: str, number: int) -> str:
    return f"{namespace}/{number}"
