"""How a push changes a namespace: tables, indexes and the schema in force.

A push prepares (tables and indexes are created, the schema is stored as pending), validates the documents there are,
and activates. Each step is a set of ordinary writes in the transaction it is given, so it is atomic together with
whatever else that transaction writes. Indexes are built when the transaction that adds them commits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from convex_evals.backend.database.catalog import StoredSchema, schema_row
from convex_evals.backend.database.ranges import EVERYTHING
from convex_evals.backend.database.tables import Table, TableIndex, index_row, system_table
from convex_evals.backend.database.transaction import Transaction
from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.backend.schema import IndexDiff, NamedIndex, Schema, diff_indexes
from convex_evals.backend.validators import (
    ArrayValidator,
    IdValidator,
    ObjectValidator,
    RecordValidator,
    UnionValidator,
    Validator,
    check,
    is_subset,
)
from convex_evals.backend.values import Value


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """The first document that does not match a schema."""

    table: str
    error: str


def index_diff(transaction: Transaction, namespace: str, schema: Schema | None) -> IndexDiff:
    """What activating the schema would change, compared with the indexes in use."""
    in_use = [index.named for index in _user_indexes(transaction, namespace) if not index.pending]
    return diff_indexes(in_use, schema.indexes if schema is not None else ())


def prepare_schema(transaction: Transaction, namespace: str, schema: Schema | None) -> str | None:
    """Creates the tables and, as pending, the indexes and the schema.

    Overwrites what an unfinished push has left pending. Returns the id of the schema's row, or None without a schema.
    """
    text = schema.dumps() if schema is not None else None
    transaction.depend_on_schema(namespace)
    catalog = transaction.catalog(namespace)
    for stored in list(catalog.schemas.values()):
        if stored.state in ("pending", "validated") and stored.text != text:
            _set_state(transaction, namespace, stored, schema_row("overwritten", stored.text))
    if schema is None or text is None:
        _prepare_indexes(transaction, namespace, ())
        return None
    for name in schema.tables:
        if transaction.table_named(namespace, name) is None:
            transaction.create_table(namespace, name)
    _prepare_indexes(transaction, namespace, schema.indexes)
    usable = (stored for stored in catalog.schemas.values() if stored.state in ("active", "pending", "validated"))
    same = next((stored for stored in usable if stored.text == text), None)
    return same.id if same else transaction.system.insert(namespace, "_schemas", schema_row("pending", text)).id


def validate_schema(transaction: Transaction, namespace: str, schema_id: str) -> StoredSchema:
    """Checks the documents there are against a pending schema, and stores the outcome. Raises KeyError without it."""
    transaction.depend_on_schema(namespace)
    stored = transaction.catalog(namespace).schemas[schema_id]
    if stored.state != "pending":
        return stored
    violation = find_violation(transaction, namespace, stored.schema)
    if violation is None:
        row = schema_row("validated", stored.text)
    else:
        row = schema_row("failed", stored.text, violation.error, violation.table)
    _set_state(transaction, namespace, stored, row)
    return transaction.catalog(namespace).schemas[schema_id]


def find_violation(transaction: Transaction, namespace: str, schema: Schema) -> SchemaViolation | None:
    """The first document that does not match. Tables are skipped when the active schema guarantees that all match."""
    if not schema.schema_validation:
        return None
    catalog = transaction.catalog(namespace)
    for name, definition in schema.tables.items():
        table = transaction.table_named(namespace, name)
        if table is None or _is_guaranteed(transaction, namespace, name, definition.validator):
            continue
        transaction.read_set.add_system(table.by_creation_time.storage, EVERYTHING)
        for row in transaction.scan(table, table.by_creation_time, EVERYTHING):
            error = check(definition.validator, row.document.fields, catalog.table_names)
            if error is not None:
                text = f'Document with ID "{row.document.id}" in table "{name}" does not match the schema: {error}'
                return SchemaViolation(name, text)
    return None


def activate_schema(transaction: Transaction, namespace: str, schema_id: str | None) -> IndexDiff:
    """Puts a prepared schema (or none) and exactly its indexes in force. Returns what changed about the indexes.

    Raises RequestError when the schema has failed or was overwritten by another push.
    """
    transaction.depend_on_schema(namespace)
    stored = _activatable(transaction, namespace, schema_id) if schema_id is not None else None
    schema = stored.schema if stored is not None else None
    diff = index_diff(transaction, namespace, schema)
    if stored is not None and stored.state != "active":
        _set_state(transaction, namespace, stored, schema_row("active", stored.text))
    for other in list(transaction.catalog(namespace).schemas):
        if other != schema_id:
            transaction.system.delete(namespace, "_schemas", other)
    _enable_indexes(transaction, namespace, list(schema.indexes) if schema is not None else [])
    return diff


def delete_tables(transaction: Transaction, namespace: str, names: Iterable[str]) -> int:
    """Deletes tables with their documents. Returns how many documents they had; missing tables are ignored."""
    count = 0
    for name in names:
        table = transaction.table_named(namespace, name)
        if table is None:
            continue
        _check_not_in_schema(transaction, namespace, name)
        transaction.read_set.add_system(table.by_creation_time.storage, EVERYTHING)
        for row in list(transaction.scan(table, table.by_creation_time, EVERYTHING)):
            transaction.write(table, row.document.id, None)
            count += 1
        for index in table.user_indexes:
            transaction.system.delete(namespace, "_index", index.row_id)
        row_of_table = transaction.system.first(namespace, "_tables", "by_name", [name])
        assert row_of_table is not None
        transaction.system.delete(namespace, "_tables", row_of_table.id)
    return count


def _user_indexes(transaction: Transaction, namespace: str) -> list[TableIndex]:
    transaction.depend_on_tables(namespace)
    transaction.read_set.add_system(system_table(namespace, "_index").by_creation_time.storage, EVERYTHING)
    tables = transaction.catalog(namespace).tables.values()
    return [index for table in tables for index in table.user_indexes]


def _prepare_indexes(transaction: Transaction, namespace: str, wanted: Iterable[NamedIndex]) -> None:
    existing = _user_indexes(transaction, namespace)
    kept: set[str] = set()
    for new in wanted:
        same = [old for old in existing if old.named.full_name == new.full_name and old.named.same_spec(new)]
        if same:
            kept.update(index.row_id for index in same)
        else:
            table = _table(transaction, namespace, new.table)
            transaction.system.insert(namespace, "_index", index_row(table.number, new.index, pending=True))
    for index in existing:
        if index.pending and index.row_id not in kept:
            transaction.system.delete(namespace, "_index", index.row_id)


def _enable_indexes(transaction: Transaction, namespace: str, wanted: list[NamedIndex]) -> None:
    for index in _user_indexes(transaction, namespace):
        table = _table(transaction, namespace, index.table)
        new = next(
            (new for new in wanted if new.full_name == index.named.full_name and index.named.same_spec(new)), None
        )
        if new is None:
            transaction.system.delete(namespace, "_index", index.row_id)
        elif index.pending or index.spec.staged != new.index.staged:
            row = index_row(table.number, new.index, pending=False)
            transaction.system.replace(namespace, "_index", index.row_id, row)


def _table(transaction: Transaction, namespace: str, name: str) -> Table:
    table = transaction.table_named(namespace, name)
    assert table is not None
    return table


def _is_guaranteed(transaction: Transaction, namespace: str, table: str, validator: Validator) -> bool:
    active = transaction.catalog(namespace).active_schema
    if active is None or not active.schema.schema_validation or table not in active.schema.tables:
        return False
    return is_subset(active.schema.tables[table].validator, validator)


def _activatable(transaction: Transaction, namespace: str, schema_id: str) -> StoredSchema:
    stored = transaction.catalog(namespace).schemas.get(schema_id)
    if stored is not None and stored.state == "pending":
        stored = validate_schema(transaction, namespace, schema_id)
    if stored is None or stored.state == "overwritten":
        raise RequestError(400, "SchemaAlreadyOverwritten", "Schema was overwritten by another push.")
    if stored.state == "failed":
        raise RequestError(400, "SchemaAlreadyFailed", stored.error or "Schema validation failed.")
    return stored


def _set_state(transaction: Transaction, namespace: str, stored: StoredSchema, row: dict[str, Value]) -> None:
    transaction.system.replace(namespace, "_schemas", stored.id, row)


def _check_not_in_schema(transaction: Transaction, namespace: str, name: str) -> None:
    active = transaction.catalog(namespace).active_schema
    if active is None:
        return
    transaction.depend_on_schema(namespace)
    if name in active.schema.tables:
        raise DeveloperError(f'Failed to delete table "{name}" because it appears in the schema')
    for other, definition in active.schema.tables.items():
        if _mentions(definition.validator, name):
            raise DeveloperError(
                f'Failed to delete table "{name}" because `v.id("{name}")` appears in the schema of table "{other}"'
            )


def _mentions(validator: Validator, table: str) -> bool:
    match validator:
        case IdValidator():
            return validator.table == table
        case ArrayValidator():
            return _mentions(validator.element, table)
        case RecordValidator():
            return _mentions(validator.keys, table) or _mentions(validator.values, table)
        case ObjectValidator():
            return any(_mentions(field.validator, table) for field in validator.fields.values())
        case UnionValidator():
            return any(_mentions(member, table) for member in validator.members)
        case _:
            return False
