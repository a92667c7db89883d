"""Tables: user tables from the catalog, and the private system tables that every namespace has."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Final

from convex_evals.backend.database.indexes import BY_CREATION_TIME, BY_ID, TableIndex, database_index
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS

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

    @cached_property
    def keyed_indexes(self) -> tuple[TableIndex, ...]:
        return tuple(index for index in self.indexes if index.fields)

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
