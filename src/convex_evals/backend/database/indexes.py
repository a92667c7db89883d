"""Indexes of tables: what they index, and the key a document has in them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from convex_evals.backend.database.documents import Document
from convex_evals.backend.schema import Index, IndexSpec, NamedIndex, SearchIndexSpec, VectorIndexSpec
from convex_evals.backend.values import Value, field_at, sort_key, split_path

BY_ID: Final = "by_id"
BY_CREATION_TIME: Final = "by_creation_time"


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
