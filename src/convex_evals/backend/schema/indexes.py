"""The three kinds of index a table can have: parsed from a schema's JSON, checked, and compared by a push."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from convex_evals.backend.limits import MAX_DIMENSIONS, MAX_FILTER_FIELDS, MAX_INDEX_FIELDS, MIN_DIMENSIONS
from convex_evals.backend.names import is_identifier
from convex_evals.backend.schema import errors

CREATION_TIME: Final = "_creationTime"
_TOO_MANY_FIELDS = f"Indexes may have up to {MAX_INDEX_FIELDS} fields."


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


def parse_db_index(table: str, json: Any, staged: bool) -> IndexSpec:
    name = _parse_name(table, json)
    fields = _field_list(table, name, json.get("fields"))
    if not fields:
        raise errors.empty_index(table, name, staged)
    _check_db_fields(table, name, fields)
    return IndexSpec(name, (*fields, CREATION_TIME), staged)


def parse_search_index(table: str, json: Any, staged: bool) -> SearchIndexSpec:
    name = _parse_name(table, json)
    search_field = _parse_field(table, name, json.get("searchField"))
    return SearchIndexSpec(name, search_field, _filter_fields(table, name, json), staged)


def parse_vector_index(table: str, json: Any, staged: bool) -> VectorIndexSpec:
    name = _parse_name(table, json)
    vector_field = _parse_field(table, name, json.get("vectorField"))
    dimensions = _parse_dimensions(table, name, json.get("dimensions"))
    return VectorIndexSpec(name, vector_field, dimensions, _filter_fields(table, name, json), staged)


def _parse_name(table: str, json: Any) -> str:
    name = json.get("indexDescriptor") if isinstance(json, dict) else None
    if not isinstance(name, str):
        raise errors.malformed(f'An index of table "{table}" has no `indexDescriptor`')
    if not is_identifier(name):
        raise errors.invalid_index_name(table, name)
    return name


def _field_list(table: str, index: str, json: object) -> tuple[str, ...]:
    if not isinstance(json, list):
        raise errors.malformed(f'The fields of index "{index}" of table "{table}" are not an array')
    return tuple(_parse_field(table, index, field) for field in json)


def _parse_field(table: str, index: str, json: object) -> str:
    """A dotted path of identifiers."""
    if not isinstance(json, str):
        raise errors.malformed(f'A field of index "{index}" of table "{table}" is not a string')
    if not all(map(is_identifier, json.split("."))):
        raise errors.in_index(table, index, "InvalidIndexField", f'Invalid index field: "{json}"')
    return json


def _check_db_fields(table: str, index: str, fields: tuple[str, ...]) -> None:
    if len(fields) > MAX_INDEX_FIELDS:
        raise errors.in_index(table, index, "IndexTooManyFields", _TOO_MANY_FIELDS)
    duplicate = next((field for position, field in enumerate(fields) if field in fields[:position]), None)
    if duplicate is not None:
        message = f'Duplicate field "{duplicate}". Index fields must be unique within an index.'
        raise errors.in_index(table, index, "FieldsNotUniqueWithinIndex", message)
    for name in fields:
        _check_not_reserved(table, index, name)
    if len(fields) + 1 > MAX_INDEX_FIELDS:
        raise errors.schema_error("IndexTooManyFields", _TOO_MANY_FIELDS)


def _check_not_reserved(table: str, index: str, field: str) -> None:
    if field == "_id":
        message = "`_id` is not a valid index field. To load documents by ID, use `db.get(id)`."
        raise errors.in_index(table, index, "IndexFieldsContainId", message)
    if field == CREATION_TIME:
        raise errors.schema_error(
            "IndexFieldsContainCreationTime",
            "`_creationTime` is automatically added to the end of each index. It should not be added explicitly "
            "in the index definition. See https://docs.convex.dev/using/indexes for more details.",
        )
    if field.startswith("_"):
        raise errors.schema_error(
            "IndexFieldNameReserved", "Reserved fields (starting with `_`) are not allowed in indexes."
        )


def _filter_fields(table: str, index: str, json: dict[str, Any]) -> tuple[str, ...]:
    fields = set(_field_list(table, index, json.get("filterFields") or []))
    if len(fields) > MAX_FILTER_FIELDS:
        message = f"Search indexes may have up to {MAX_FILTER_FIELDS} filter fields."
        raise errors.in_index(table, index, "IndexTooManyFilterFields", message)
    return tuple(sorted(fields))


def _parse_dimensions(table: str, index: str, json: object) -> int:
    # The SDK exports whatever number it was given; a fraction is not a dimension.
    if isinstance(json, bool) or not isinstance(json, int | float) or json != int(json):
        raise errors.malformed(f'The dimensions of index "{index}" of table "{table}" are not an integer')
    if not MIN_DIMENSIONS <= json <= MAX_DIMENSIONS:
        message = f"Dimensions {int(json)} must be between {MIN_DIMENSIONS} and {MAX_DIMENSIONS}."
        raise errors.in_index(table, index, "InvalidVectorDimensionError", message)
    return int(json)


@dataclass(frozen=True, slots=True)
class NamedIndex:
    table: str
    index: Index

    @property
    def full_name(self) -> str:
        return f"{self.table}.{self.index.name}"

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.full_name,
            "type": self.index.type,
            **self.index.definition,
            "staged": self.index.staged,
        }

    def same_spec(self, other: "NamedIndex") -> bool:
        """Same kind and same fields, whether staged or not."""
        return replace(self.index, staged=other.index.staged) == other.index


@dataclass(slots=True)
class IndexDiff:
    """Each list is sorted by full name. Changed indexes are in `removed` (old) and `added` (new)."""

    added: list[NamedIndex] = field(default_factory=list)
    removed: list[NamedIndex] = field(default_factory=list)
    enabled: list[NamedIndex] = field(default_factory=list)
    disabled: list[NamedIndex] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.enabled or self.disabled)

    def to_json(self) -> dict[str, object]:
        lists = {"added": self.added, "removed": self.removed, "enabled": self.enabled, "disabled": self.disabled}
        return {f"{name}_indexes": [index.to_json() for index in indexes] for name, indexes in lists.items()}


def diff_indexes(existing: Iterable[NamedIndex], new: Iterable[NamedIndex]) -> IndexDiff:
    """`existing` are the component's enabled and staged indexes, without `by_id` and `by_creation_time`."""
    before, after = _by_name(existing), _by_name(new)
    diff = IndexDiff()
    for name in sorted(before.keys() | after.keys()):
        old, current = before.get(name), after.get(name)
        if old is not None and current is not None and old.same_spec(current):
            if old.index.staged != current.index.staged:
                (diff.disabled if current.index.staged else diff.enabled).append(current)
            continue
        if old is not None:
            diff.removed.append(old)
        if current is not None:
            diff.added.append(current)
    return diff


def _by_name(indexes: Iterable[NamedIndex]) -> Mapping[str, NamedIndex]:
    return {index.full_name: index for index in indexes}
