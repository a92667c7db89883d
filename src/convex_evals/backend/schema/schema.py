"""A component's schema in its normalized form."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from convex_evals.backend.schema.diff import NamedIndex
from convex_evals.backend.schema.errors import malformed
from convex_evals.backend.schema.indexes import CREATION_TIME
from convex_evals.backend.schema.tables import TableDefinition


@dataclass(frozen=True, slots=True)
class Schema:
    tables: dict[str, TableDefinition]  # sorted by name
    schema_validation: bool = True

    @classmethod
    def parse(cls, json: Any) -> "Schema":
        """From what `schema.export()` wrote. Raises RequestError without the prefixes of a push."""
        if not isinstance(json, dict) or not isinstance(json.get("tables"), list):
            raise malformed("The schema has no array of `tables`")
        tables = sorted(map(TableDefinition.parse, json["tables"]), key=lambda table: table.name)
        schema = cls({table.name: table for table in tables}, json.get("schemaValidation") is True)
        if schema.schema_validation:
            for table in tables:
                table.check_fields()
        return schema

    @classmethod
    def loads(cls, text: str | bytes) -> "Schema":
        """The inverse of `dumps`."""
        json = orjson.loads(text)
        for table in json["tables"]:
            for index in (*table["indexes"], *table["stagedDbIndexes"]):
                index["fields"].remove(CREATION_TIME)
        return cls.parse(json)

    def to_json(self) -> dict[str, object]:
        return {
            "tables": [table.to_json() for table in self.tables.values()],
            "schemaValidation": self.schema_validation,
        }

    def dumps(self) -> str:
        """The text that is stored. Equal schemas have equal texts."""
        return orjson.dumps(self.to_json(), option=orjson.OPT_SORT_KEYS).decode()

    @property
    def indexes(self) -> Iterator[NamedIndex]:
        """Every index of every table, staged ones included."""
        for table in self.tables.values():
            for index in table.all_indexes:
                yield NamedIndex(table.name, index)
