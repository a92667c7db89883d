"""Index definitions from a schema's JSON, each with the checks that concern it alone."""

from typing import Any, Final

from convex_evals.backend.identifiers import is_identifier
from convex_evals.backend.schema import errors
from convex_evals.backend.schema.indexes import CREATION_TIME, IndexSpec, SearchIndexSpec, VectorIndexSpec

MAX_INDEX_FIELDS: Final = 16
MAX_FILTER_FIELDS: Final = 16
MIN_DIMENSIONS: Final = 2
MAX_DIMENSIONS: Final = 4096

_TOO_MANY_FIELDS = f"Indexes may have up to {MAX_INDEX_FIELDS} fields."


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
    for field in fields:
        _check_not_reserved(table, index, field)
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
