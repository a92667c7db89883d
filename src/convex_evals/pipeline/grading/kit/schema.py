"""The schema in force."""

import json
from dataclasses import dataclass
from typing import Any

from convex_evals.pipeline.grading.kit.comparing import closest
from convex_evals.pipeline.grading.kit.validators import Field, fields_of


@dataclass(frozen=True, slots=True)
class SearchIndex:
    search_field: str
    filter_fields: frozenset[str]


@dataclass(frozen=True, slots=True)
class VectorIndex:
    vector_field: str
    dimensions: int
    filter_fields: frozenset[str]


@dataclass(frozen=True, slots=True)
class Table:
    """`document_type` is the validator as Convex writes it in JSON; `indexes` map names to the declared fields."""

    name: str
    document_type: Any
    indexes: dict[str, list[str]]
    search_indexes: dict[str, SearchIndex]
    vector_indexes: dict[str, VectorIndex]

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of documents; for tables of one object type only."""
        return fields_of(self.document_type, f"the documents of {self.name}")

    def has_index_on(self, *fields: str) -> bool:
        """Whether some index starts with these fields, in this order, whatever its name."""
        return any(tuple(index[: len(fields)]) == fields for index in self.indexes.values())


@dataclass(frozen=True, slots=True)
class Schema:
    tables: dict[str, Table]
    is_enforced: bool

    def table(self, name: str) -> Table:
        if name not in self.tables:
            raise AssertionError(f"the schema has no table {name}; {closest(name, self.tables)}")
        return self.tables[name]


def parse_schema(text: str | None) -> Schema:
    """A deployment without a schema has one without tables."""
    if text is None:
        return Schema({}, is_enforced=False)
    json_schema = json.loads(text)
    tables = [_table(entry) for entry in json_schema["tables"]]
    return Schema({table.name: table for table in tables}, json_schema.get("schemaValidation", True))


def _table(entry: dict[str, Any]) -> Table:
    return Table(
        name=entry["tableName"],
        document_type=entry.get("documentType"),
        indexes={index["indexDescriptor"]: _declared_fields(index) for index in entry.get("indexes", [])},
        search_indexes={
            index["indexDescriptor"]: SearchIndex(index["searchField"], frozenset(index.get("filterFields") or ()))
            for index in entry.get("searchIndexes", [])
        },
        vector_indexes={
            index["indexDescriptor"]: VectorIndex(
                index["vectorField"], int(index["dimensions"]), frozenset(index.get("filterFields") or ())
            )
            for index in entry.get("vectorIndexes", [])
        },
    )


def _declared_fields(index: dict[str, Any]) -> list[str]:
    """Without the field that Convex adds at the end of every index."""
    *fields, last = index["fields"]
    return fields if last == "_creationTime" else [*fields, last]
