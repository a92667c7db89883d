"""What can be wrong with a schema: codes and texts, without the prefixes a push puts before them."""

from convex_evals.backend.errors import RequestError

SCHEMA_DOCS = "To learn more, see the schema documentation at https://docs.convex.dev/database/schemas."


def schema_error(code: str, message: str) -> RequestError:
    return RequestError(400, code, message)


def malformed(reason: str) -> RequestError:
    return schema_error("InvalidSchema", reason)


def invalid_document_type(found: object) -> RequestError:
    return schema_error(
        "InvalidTopLevelTypeInSchemaError",
        "The document validator in a schema must be an object, a union of objects, or `v.any()`. "
        f"Found {found}. {SCHEMA_DOCS}",
    )


def invalid_table_name(name: str) -> RequestError:
    return schema_error(
        "InvalidTableName",
        f'Invalid table name: "{name}". '
        "Identifiers must start with a letter and can only contain letters, digits, and underscores.",
    )


def reserved_table_name(name: str) -> RequestError:
    return schema_error("TableNameReserved", f"{name} is a reserved table name.")


def too_many_indexes(table: str, maximum: int) -> RequestError:
    return schema_error("TooManyIndexes", f'Table "{table}" cannot have more than {maximum} indexes.')


def invalid_index_name(table: str, index: str) -> RequestError:
    return schema_error(
        "InvalidIndexName",
        f'In table "{table}": Invalid index name: "{index}". '
        "Identifiers must be 64 characters or less, start with a letter, "
        "and only contain letters, digits, underscores.",
    )


def reserved_index_name(table: str, index: str) -> RequestError:
    return schema_error(
        "IndexNameReserved",
        f'In table "{table}" cannot name an index "{index}" because the name is reserved. '
        'Indexes may not start with an underscore or be named "by_id" or "by_creation_time".',
    )


def index_defined_twice(table: str, index: str) -> RequestError:
    return schema_error("IndexNamesNotUnique", f'Table "{table}" has two or more definitions of index "{index}".')


def empty_index(table: str, index: str, staged: bool) -> RequestError:
    kind = "staged index" if staged else "index"
    return schema_error("EmptyIndex", f'In table "{table}" {kind} "{index}" must have at least one field.')


def in_index(table: str, index: str, code: str, message: str) -> RequestError:
    return schema_error(code, f'In table "{table}": In index "{index}": {message}')


def same_fields(table: str, first: str, second: str) -> RequestError:
    return schema_error(
        "IndexNotUnique",
        f'In table "{table}" index "{first}" and index "{second}" have the same fields. '
        "Indexes must be unique within a table.",
    )


def same_search_field(table: str, first: str, second: str) -> RequestError:
    return schema_error(
        "SearchIndexFieldNotUnique",
        f'In table "{table}" search index "{first}" and search index "{second}" have the same `searchField`. '
        "Search index fields must be unique within a table.",
    )


def same_vector_field(table: str, first: str, second: str) -> RequestError:
    return schema_error(
        "VectorIndexFieldNotUnique",
        f'In table "{table}" vector index "{first}" and vector index "{second}" have the same `vectorField`. '
        "Vector index fields must be unique within a table.",
    )


def unknown_field(table: str, index: str, field: str) -> RequestError:
    return schema_error(
        "SchemaDefinitionError",
        f'In table "{table}" the index "{index}" is invalid because it references the field "{field}" '
        "that does not exist.",
    )


def not_a_vector_field(table: str, index: str, field: str) -> RequestError:
    return schema_error(
        "SchemaDefinitionError",
        f'In table "{table}" the vector index "{index}" is invalid because it references the field "{field}" '
        "that is neither an array of float64 or optional array of float64.",
    )
