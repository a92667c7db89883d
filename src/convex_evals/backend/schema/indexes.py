"""The three kinds of index a table can have."""

from dataclasses import dataclass
from typing import Final, TypeAlias

CREATION_TIME: Final = "_creationTime"


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """A database index. `fields` ends with `_creationTime`, as stored and shown."""

    name: str
    fields: tuple[str, ...]
    staged: bool = False

    @property
    def definition(self) -> dict[str, object]:
        return {"fields": list(self.fields)}

    @property
    def type(self) -> str:
        return "database"

    def to_json(self) -> dict[str, object]:
        return {"indexDescriptor": self.name, **self.definition}


@dataclass(frozen=True, slots=True)
class SearchIndexSpec:
    name: str
    search_field: str
    filter_fields: tuple[str, ...] = ()  # sorted, each once
    staged: bool = False

    @property
    def definition(self) -> dict[str, object]:
        return {"searchField": self.search_field, "filterFields": list(self.filter_fields)}

    @property
    def type(self) -> str:
        return "search"

    def to_json(self) -> dict[str, object]:
        return {"indexDescriptor": self.name, **self.definition}


@dataclass(frozen=True, slots=True)
class VectorIndexSpec:
    name: str
    vector_field: str
    dimensions: int
    filter_fields: tuple[str, ...] = ()  # sorted, each once
    staged: bool = False

    @property
    def definition(self) -> dict[str, object]:
        return {
            "vectorField": self.vector_field,
            "dimensions": self.dimensions,
            "filterFields": list(self.filter_fields),
        }

    @property
    def type(self) -> str:
        return "vector"

    def to_json(self) -> dict[str, object]:
        return {"indexDescriptor": self.name, **self.definition, "dimension": None}


Index: TypeAlias = IndexSpec | SearchIndexSpec | VectorIndexSpec
