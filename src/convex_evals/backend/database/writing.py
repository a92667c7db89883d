"""The rules a document must satisfy before it is written."""

from convex_evals.backend.database.catalog import StoredSchema, schema_row
from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.intervals import point
from convex_evals.backend.database.tables import Table, system_table
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.limits import format_size
from convex_evals.backend.validators import check
from convex_evals.backend.values import Value, display, equal, nesting_of, sort_key

MAX_NESTING = 16
MAX_SIZE = 2**20

_UNMOUNTED = (
    "Cannot perform write operations in an unmounted component. "
    "Make sure your component is installed in your `convex.config.ts` file."
)


def build_document(id: str, creation_time: float, given: dict[str, Value]) -> Document:
    """The document made of the `given` fields, which may repeat the system fields but not change them."""
    if "_id" in given and given["_id"] != id:
        raise DeveloperError(f"Provided document ID \"{id}\" doesn't match '_id' field {display(given['_id'])}")
    if "_creationTime" in given and not equal(given["_creationTime"], creation_time):
        raise DeveloperError(
            f"Provided creation time {display(creation_time)} doesn't match '_creationTime' field in {display(given)}"
        )
    document = Document.assemble(id, creation_time, given)
    violations = _violations(document)
    if violations:
        shown, problems = display(document.value), "\n ".join(violations)
        raise DeveloperError(f"Document(value: {shown}) isn't a valid document: {problems}")
    return document


def _violations(document: Document) -> list[str]:
    violations = [
        f"Field '{name}' starts with an underscore, which is only allowed for system fields like '_id'"
        for name in sorted(document.value)
        if name.startswith("_") and name not in ("_id", "_creationTime")
    ]
    nesting = nesting_of(document.value)
    if nesting > MAX_NESTING:
        violations.append(f"Document is too nested (nested {nesting} levels deep > maximum nesting {MAX_NESTING})")
    return violations


def check_document(core: TransactionCore, table: Table, document: Document) -> None:
    """Schema, then size."""
    core.depend_on_schema(table.namespace)
    catalog = core.catalog(table.namespace)
    if catalog.active_schema is not None:
        error = schema_error(core, catalog.active_schema, table, document)
        if error is not None:
            raise DeveloperError(
                f'Failed to insert or update a document in table "{table.name}" '
                f"because it does not match the schema: {error}"
            )
    if document.size > MAX_SIZE:
        raise DeveloperError(
            f"Value is too large ({format_size(document.size)} > maximum size {format_size(MAX_SIZE)})"
        )


def schema_error(core: TransactionCore, stored: StoredSchema, table: Table, document: Document) -> str | None:
    """Why the document violates the schema, or None."""
    definition = stored.schema.tables.get(table.name)
    if definition is None or not stored.schema.schema_validation:
        return None
    return check(definition.validator, document.fields, core.catalog(table.namespace).table_names)


def fail_pending_schema(core: TransactionCore, table: Table, document: Document) -> None:
    """A write that fits the active schema but not the one being pushed is made, and fails that push."""
    pending = core.catalog(table.namespace).pending_schema
    if pending is None:
        return
    error = schema_error(core, pending, table, document)
    if error is not None:
        text = f'New document in table "{table.name}" does not match the schema: {error}'
        schemas = system_table(table.namespace, "_schemas")
        row = core.lookup(schemas, pending.id)
        assert row is not None
        failed = schema_row("failed", pending.text, text, table.name)
        core.write(schemas, row.id, Document.assemble(row.id, row.creation_time, failed))


def check_mounted(core: TransactionCore, namespace: str) -> None:
    """A component whose row in `_components` has the state "unmounted" keeps its data, read-only."""
    if namespace == "":
        return
    components = system_table("", "_components")
    core.read_set.add_system(components.by_id.storage, point(sort_key(namespace)))
    row = core.lookup(components, namespace)
    if row is not None and row.value.get("state") == "unmounted":
        raise DeveloperError(_UNMOUNTED)
