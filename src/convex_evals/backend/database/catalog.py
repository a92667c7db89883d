"""What a namespace contains: tables, indexes, schemas. A view of the rows of `_tables`, `_index` and `_schemas`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Final, Literal

from convex_evals.backend import limits
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.tables import Table, parse_index, system_table
from convex_evals.backend.ids import FIRST_USER_TABLE_NUMBER, SYSTEM_TABLE_NAMES
from convex_evals.backend.schema import Schema
from convex_evals.backend.values import Value

CATALOG_TABLES: Final = ("_tables", "_index", "_schemas")

SchemaState = Literal["pending", "validated", "active", "failed", "overwritten"]


@dataclass(frozen=True)
class StoredSchema:
    """One row of `_schemas`. `error` and `table` say why a failed one failed."""

    id: str
    state: SchemaState
    text: str
    error: str | None = None
    table: str | None = None

    @property
    def schema(self) -> Schema:
        return _parse(self.text)


@dataclass(frozen=True)
class Catalog:
    """Immutable: a change makes a new one."""

    namespace: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    table_names: Mapping[int, str] = field(default_factory=dict)
    schemas: Mapping[str, StoredSchema] = field(default_factory=dict)

    @cached_property
    def active_schema(self) -> StoredSchema | None:
        return next((schema for schema in self.schemas.values() if schema.state == "active"), None)

    @cached_property
    def pending_schema(self) -> StoredSchema | None:
        """The schema of a push under way, whether its validation is finished or not."""
        return next((schema for schema in self.schemas.values() if schema.state in ("pending", "validated")), None)

    def numbered(self, number: int) -> Table | None:
        """A user table or a private table."""
        if number in SYSTEM_TABLE_NAMES:
            return system_table(self.namespace, SYSTEM_TABLE_NAMES[number])
        name = self.table_names.get(number)
        return None if name is None else self.tables[name]

    def next_table_number(self) -> int:
        if len(self.table_names) >= limits.MAX_TABLES:
            raise limits.too_many_tables()
        return next(number for number in count(FIRST_USER_TABLE_NUMBER) if number not in self.table_names)

    def apply(self, table: str, old: Document | None, new: Document | None) -> "Catalog":
        """The catalog after one row of a catalog table changed."""
        match table:
            case "_tables":
                return self._with_table(old, new)
            case "_index":
                return self._with_index(old, new)
            case _:
                return self._with_schema(old, new)

    def _with_table(self, old: Document | None, new: Document | None) -> "Catalog":
        tables, names = dict(self.tables), dict(self.table_names)
        if old is not None:
            removed = tables.pop(_text(old.value["name"]))
            del names[removed.number]
        if new is not None:
            table = Table.create(self.namespace, _text(new.value["name"]), _integer(new.value["number"]))
            tables[table.name] = table
            names[table.number] = table.name
        return replace(self, tables=tables, table_names=names)

    def _with_index(self, old: Document | None, new: Document | None) -> "Catalog":
        row = new or old
        assert row is not None
        name = self.table_names.get(_integer(row.value["table"]))
        if name is None:
            return self
        table = self.tables[name]
        storage = f"{table.storage}/{row.id}"
        indexes = [index for index in table.user_indexes if index.storage != storage]
        if new is not None:
            indexes.append(parse_index(table.storage, table.name, new))
        return replace(self, tables={**self.tables, name: table.with_indexes(tuple(indexes))})

    def _with_schema(self, old: Document | None, new: Document | None) -> "Catalog":
        schemas = dict(self.schemas)
        if old is not None:
            del schemas[old.id]
        if new is not None:
            schemas[new.id] = _stored_schema(new)
        return replace(self, schemas=schemas)


def schema_row(state: SchemaState, text: str, error: str | None = None, table: str | None = None) -> dict[str, Value]:
    described: dict[str, Value] = {"state": state}
    if error is not None:
        described |= {"error": error, "tableName": table}
    return {"state": described, "schema": text}


def _stored_schema(row: Document) -> StoredSchema:
    state = row.value["state"]
    assert isinstance(state, dict)
    return StoredSchema(
        row.id,
        state["state"],  # type: ignore[arg-type]
        _text(row.value["schema"]),
        state.get("error"),  # type: ignore[arg-type]
        state.get("tableName"),  # type: ignore[arg-type]
    )


_parse = lru_cache(maxsize=64)(Schema.loads)


def _text(value: Value) -> str:
    assert isinstance(value, str)
    return value


def _integer(value: Value) -> int:
    assert isinstance(value, int)
    return value
