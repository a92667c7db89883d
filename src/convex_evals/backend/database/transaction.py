"""What functions do with the database: every operation with its rules, its texts and its accounting."""

from itertools import islice
from typing import NamedTuple

from convex_evals.backend.database.catalog import StoredSchema, schema_row
from convex_evals.backend.database.core import Snapshot, TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.pagination import Page, PageRequest, paginate
from convex_evals.backend.database.queries import QueryStream, compile_query
from convex_evals.backend.database.ranges import EVERYTHING, point
from convex_evals.backend.database.system_tables import VIEWS, SystemTables
from convex_evals.backend.database.tables import Table, system_table
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import (
    PUBLIC_SYSTEM_TABLE_NUMBERS,
    PUBLIC_SYSTEM_TABLES,
    SYSTEM_TABLE_NAMES,
    DocumentId,
    is_system_table_number,
    public_name,
)
from convex_evals.backend.limits import (
    MAX_DOCUMENT_NESTING,
    MAX_DOCUMENT_SIZE,
    Limits,
    document_too_large,
    document_too_nested,
    metrics,
)
from convex_evals.backend.names import identifier_error
from convex_evals.backend.validators import check
from convex_evals.backend.values import (
    Undefined,
    Value,
    decode_field,
    decode_pending,
    display,
    equal,
    nesting_of,
    sort_key,
)

_USE_SYSTEM = "System tables can only be accessed with db.system."
_USE_USER = "User tables cannot be accessed with db.system."

_UNMOUNTED = (
    "Cannot perform write operations in an unmounted component. "
    "Make sure your component is installed in your `convex.config.ts` file."
)


class _Target(NamedTuple):
    """An id and the table it points into; `table` is None when there is none with this number."""

    id: str
    table: Table | None


class Transaction(TransactionCore):
    """One snapshot, overlaid with its own writes.

    Values come in as parsed JSON, as syscalls carry them; documents go out. Every method is synchronous, takes the
    namespace first ("" is the app) and raises DeveloperError with the text that user code sees. After an error the
    transaction is as it was before, apart from what was read and counted.
    """

    def __init__(self, snapshot: Snapshot, limits: Limits | None = None) -> None:
        super().__init__(snapshot, limits or Limits())

    @property
    def system(self) -> SystemTables:
        """The private tables. Created on each access: a reference cycle would keep old versions alive."""
        return SystemTables(self)

    # ------------------------------------------------------------------ reads

    def get(self, namespace: str, id: str, table: str | None = None, *, is_system: bool = False) -> Document | None:
        target = self._resolve(namespace, "db.system.get" if is_system else "db.get", id, table)
        if target.table is None:
            return None
        if target.table.is_system != is_system:
            raise DeveloperError(_USE_USER if is_system else _USE_SYSTEM)
        if not is_system:
            return self.read(target.table, target.id)
        view = VIEWS.get(public_name(target.table.name))
        row = self.read(target.table, target.id) if view else None
        return view(self, namespace, row) if view and row else None

    def count(self, namespace: str, table: str) -> int:
        """Reads the whole table."""
        found = self._readable_table(namespace, table)
        if found is None:
            return 0
        self.record(found.by_creation_time, EVERYTHING)
        self.check_reads()
        return self.count_rows(found)

    def normalize_id(self, namespace: str, table: str, text: str) -> str | None:
        """The canonical id if `text` is an id of `table`. Whether the document exists does not matter."""
        _check_table_name("db.normalizeId", table)
        number = self._number_of(namespace, table)
        if number is None:
            return None
        try:
            id = DocumentId.decode(text)
        except DeveloperError:
            legacy = DocumentId.decode_legacy(number, text)
            return str(legacy) if legacy else None
        return text if id.table_number == number else None

    def open_query(self, namespace: str, query: object) -> QueryStream:
        """Compiles the query without reading."""
        compiled = compile_query(self, namespace, query)
        return QueryStream(self, compiled.source, compiled.operators)

    def paginate(self, namespace: str, request: PageRequest) -> Page:
        """That a function paginates only once is for the caller to check: nested calls share the transaction."""
        return paginate(self, namespace, request)

    # ------------------------------------------------------------------ writes

    def insert(self, namespace: str, table: str, value: object) -> Document:
        if table not in self.catalog(namespace).tables:
            _check_table_name("db.insert", table)
        fields = _decode_object("db.insert", value)
        if table in PUBLIC_SYSTEM_TABLES:
            raise DeveloperError(f"{table} is a read-only table")
        if table.startswith("_"):
            raise DeveloperError(_USE_SYSTEM)
        self._check_mounted(namespace)
        found = self.table_named(namespace, table)
        target = found or self._new_table(namespace, table)
        id = str(DocumentId.new(target.number))
        document = _build_document(id, self.next_creation_time(), fields)
        self._check_and_count(target, document)
        if found is None:
            self._store_table(target)
        self.write(target, id, document)
        return document

    def create_table(self, namespace: str, name: str) -> Table:
        """An empty table. The name must be a valid one that is not taken."""
        table = self._new_table(namespace, name)
        self._store_table(table)
        return table

    def patch(self, namespace: str, id: str, value: object, table: str | None = None) -> Document:
        """Merges top-level fields; `{"$undefined": null}` removes one. Returns the new document."""
        target = self._writable(namespace, "db.patch", id, table)
        changes = _decode_patch("db.patch", value)
        old = self._existing(target, id, "Update")
        merged = {name: item for name, item in {**old.value, **changes}.items() if not isinstance(item, Undefined)}
        return self._overwrite(target, old, merged)

    def replace(self, namespace: str, id: str, value: object, table: str | None = None) -> Document:
        """Replaces every field but the system fields. Returns the new document."""
        target = self._writable(namespace, "db.replace", id, table)
        fields = _decode_object("db.replace", value)
        return self._overwrite(target, self._existing(target, id, "Replace"), fields)

    def delete(self, namespace: str, id: str, table: str | None = None) -> Document:
        """Returns the deleted document."""
        target = self._writable(namespace, "db.delete", id, table)
        old = self._existing(target, id, "Delete")
        self.count_write(target, 0)
        self.write(target, id, None)
        return old

    def clear(self, namespace: str, table: str, most: int) -> int:
        """Deletes documents that no function reads: nothing is recorded, counted or limited. Returns how many."""
        found = self.catalog(namespace).tables[table]
        rows = [*islice(self.scan(found, found.by_id, EVERYTHING), most)]
        for row in rows:
            self.write(found, row.document.id, None)
        return len(rows)

    def count_scheduled(self, args_size: int) -> None:
        """One more scheduled function. Not taken back by `rollback`."""
        self.usage.functions_scheduled += 1
        self.usage.scheduled_function_args_bytes += args_size
        self.limits.check_scheduled(self.usage)

    # ------------------------------------------------------------------ the transaction itself

    def depend_on_push(self) -> None:
        """Records a read of the root's `_udf_config`, which every push writes: the next push changes what was read."""
        self.read_set.add_system(system_table("", "_udf_config").by_creation_time.storage, EVERYTHING)

    def snapshot_view(self) -> "Transaction":
        """The state at the start of this transaction. What is read there is not recorded here."""
        return Transaction(self.snapshot, self.limits)

    def metrics(self) -> dict[str, dict[str, int]]:
        """The answer of `getTransactionMetrics`."""
        return metrics(self.usage, self.limits)

    # ------------------------------------------------------------------ private

    def _resolve(self, namespace: str, method: str, id: str, expected: str | None) -> _Target:
        try:
            decoded = DocumentId.decode(id)
        except DeveloperError as error:
            raise _invalid(method, "id", error.message) from None
        if expected is not None:
            _check_table_name(method, expected)
        table = self._table_of(namespace, decoded)
        if table is not None and expected is not None and expected != (actual := public_name(table.name)):
            raise _invalid(method, "id", f'expected to be an Id<"{expected}">, got Id<"{actual}"> instead.')
        return _Target(id, table)

    def _table_of(self, namespace: str, id: DocumentId) -> Table | None:
        if is_system_table_number(id.table_number):
            name = SYSTEM_TABLE_NAMES.get(id.table_number)
            return None if name is None else system_table(namespace, name)
        return self.table_numbered(namespace, id.table_number)

    def _readable_table(self, namespace: str, name: str) -> Table | None:
        private = PUBLIC_SYSTEM_TABLES.get(name)
        return system_table(namespace, private) if private else self.table_named(namespace, name)

    def _number_of(self, namespace: str, table: str) -> int | None:
        if table in PUBLIC_SYSTEM_TABLE_NUMBERS:
            return PUBLIC_SYSTEM_TABLE_NUMBERS[table]
        found = self.table_named(namespace, table)
        return found.number if found else None

    def _new_table(self, namespace: str, name: str) -> Table:
        self.depend_on_tables(namespace)
        return Table.create(namespace, name, self.catalog(namespace).next_table_number())

    def _store_table(self, table: Table) -> None:
        row: dict[str, Value] = {"name": table.name, "number": table.number, "state": "active"}
        self.system.insert(table.namespace, "_tables", row)

    def _writable(self, namespace: str, method: str, id: str, expected: str | None) -> Table:
        table = self._resolve(namespace, method, id, expected).table
        if table is None:
            raise _invalid(method, "id", f'Table for ID "{id}" not found')
        if table.is_system:
            raise DeveloperError(_USE_SYSTEM)
        self._check_mounted(namespace)
        return table

    def _existing(self, table: Table, id: str, operation: str) -> Document:
        document = self.read(table, id)
        if document is None:
            raise DeveloperError(f"{operation} on nonexistent document ID {id}")
        return document

    def _overwrite(self, table: Table, old: Document, fields: dict[str, Value]) -> Document:
        new = _build_document(old.id, old.creation_time, fields)
        if new.text == old.text:
            return old
        self._check_and_count(table, new)
        self.write(table, old.id, new)
        return new

    def _check_and_count(self, table: Table, document: Document) -> None:
        self._check_document(table, document)
        self.count_write(table, document.size)
        self._fail_pending_schema(table, document)

    def _check_document(self, table: Table, document: Document) -> None:
        """Schema, then size."""
        self.depend_on_schema(table.namespace)
        catalog = self.catalog(table.namespace)
        if catalog.active_schema is not None:
            error = self._schema_error(catalog.active_schema, table, document)
            if error is not None:
                raise DeveloperError(
                    f'Failed to insert or update a document in table "{table.name}" '
                    f"because it does not match the schema: {error}"
                )
        if document.size > MAX_DOCUMENT_SIZE:
            raise document_too_large(document.size)

    def _schema_error(self, stored: StoredSchema, table: Table, document: Document) -> str | None:
        """Why the document violates the schema, or None."""
        definition = stored.schema.tables.get(table.name)
        if definition is None or not stored.schema.schema_validation:
            return None
        return check(definition.validator, document.fields, self.catalog(table.namespace).table_names)

    def _fail_pending_schema(self, table: Table, document: Document) -> None:
        """A write that fits the active schema but not the one being pushed is made, and fails that push."""
        pending = self.catalog(table.namespace).pending_schema
        if pending is None:
            return
        error = self._schema_error(pending, table, document)
        if error is not None:
            text = f'New document in table "{table.name}" does not match the schema: {error}'
            schemas = system_table(table.namespace, "_schemas")
            row = self.lookup(schemas, pending.id)
            assert row is not None
            failed = schema_row("failed", pending.text, text, table.name)
            self.write(schemas, row.id, Document.assemble(row.id, row.creation_time, failed))

    def _check_mounted(self, namespace: str) -> None:
        """A component whose row in `_components` has the state "unmounted" keeps its data, read-only."""
        if namespace == "":
            return
        components = system_table("", "_components")
        self.read_set.add_system(components.by_id.storage, point(sort_key(namespace)))
        row = self.lookup(components, namespace)
        if row is not None and row.value.get("state") == "unmounted":
            raise DeveloperError(_UNMOUNTED)


def _check_table_name(method: str, name: str) -> None:
    problem = identifier_error(name)
    if problem is not None:
        raise _invalid(method, "table", problem)


def _decode_object(method: str, json: object) -> dict[str, Value]:
    try:
        value = decode_pending(json)
    except DeveloperError as error:
        raise _invalid(method, "value", error.message) from None
    if not isinstance(value, dict):
        raise _invalid(method, "value", "Value must be an Object")
    return value


def _decode_patch(method: str, json: object) -> dict[str, Value | Undefined]:
    if not isinstance(json, dict):
        raise _invalid(method, "value", "Value must be an Object")
    removed = {name: decode_field(item) for name, item in json.items() if item == {"$undefined": None}}
    kept = _decode_object(method, {name: item for name, item in json.items() if name not in removed})
    return {**kept, **removed}


def _invalid(method: str, argument: str, cause: str) -> DeveloperError:
    return DeveloperError(f"Invalid argument `{argument}` for `{method}`: {cause}")


def _build_document(id: str, creation_time: float, given: dict[str, Value]) -> Document:
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
    if nesting > MAX_DOCUMENT_NESTING:
        violations.append(document_too_nested(nesting))
    return violations
