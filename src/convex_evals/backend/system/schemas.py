"""Schemas, tables and indexes."""

from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS
from convex_evals.backend.schema import Index, IndexSpec
from convex_evals.backend.system.declarations import PAGINATION, Context, Declarations, nullable, optional
from convex_evals.backend.validators import STRING
from convex_evals.backend.values import Value

functions = Declarations()

MAX_MAPPED = 1000
LISTED_SYSTEM_TABLES = ("_scheduled_jobs", "_file_storage")


@functions.query("frontend/getSchemas")
def get_schemas(context: Context) -> Value:
    """Schema texts: the one in force, and that of a push under way."""
    context.transaction.depend_on_schema(context.namespace)
    catalog = context.transaction.catalog(context.namespace)
    schemas: dict[str, Value] = {}
    if catalog.active_schema is not None:
        schemas["active"] = catalog.active_schema.text
    if catalog.pending_schema is not None:
        schemas["inProgress"] = catalog.pending_schema.text
    return schemas


@functions.query("frontend/getSchemas:schemaValidationProgress")
def schema_validation_progress(context: Context) -> Value:
    """Validation happens within a push, so there is no progress to report."""
    return None


@functions.query("frontend/getTableMapping")
def get_table_mapping(context: Context) -> Value:
    named = {str(SYSTEM_TABLE_NUMBERS[name]): name for name in LISTED_SYSTEM_TABLES}
    named |= {str(number): name for number, name in user_tables(context)}
    return dict(list(named.items())[:MAX_MAPPED])


@functions.query("cli/tables", paginationOpts=PAGINATION)
def tables(context: Context, pagination_opts: dict[str, Value]) -> Value:
    return {"page": [{"name": name} for _, name in user_tables(context)], "isDone": True, "continueCursor": "end"}


def user_tables(context: Context) -> list[tuple[int, str]]:
    """By number."""
    context.transaction.depend_on_tables(context.namespace)
    return sorted(context.transaction.catalog(context.namespace).table_names.items())


@functions.query(
    "frontend/indexes", in_component=False, tableName=optional(nullable(STRING)), tableNamespace=nullable(STRING)
)
def indexes(context: Context, table_namespace: str | None, table_name: str | None = None) -> Value:
    """Indexes are built within the push that adds them: all are done."""
    namespace = table_namespace or ""
    table = context.transaction.table_named(namespace, table_name) if table_name else None
    if table is None:
        return None
    context.transaction.depend_on_indexes(table)
    return [
        {
            "name": index.name,
            "staged": index.spec.staged,
            "fields": _fields(index.spec),
            "backfill": {"state": "done"},
        }
        for index in table.user_indexes
        if not index.pending
    ]


def _fields(spec: Index) -> Value:
    match spec:
        case IndexSpec():
            return list(spec.fields)
        case _:
            return {name: _part(part) for name, part in spec.definition.items()}


def _part(part: object) -> Value:
    match part:
        case int():
            return float(part)
        case list():
            return [str(name) for name in part]
        case _:
            return str(part)
