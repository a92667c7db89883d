"""Reading and editing the documents of a component, as the data browser and test harnesses do."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

from convex_evals.backend.database import Document, PageRequest, Table
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.ids import PUBLIC_SYSTEM_TABLES, DocumentId, is_system_table_number, public_name
from convex_evals.backend.schema import IndexSpec, SearchIndexSpec
from convex_evals.backend.system.declarations import (
    PAGINATION,
    Context,
    Declarations,
    PageOptions,
    last_page,
    nullable,
    object_of,
    optional,
    paginate,
)
from convex_evals.backend.system.filters import (
    UNDEFINED_PLACEHOLDER,
    WHOLE,
    Filters,
    IndexFilter,
    Problem,
    SearchFilter,
    parse_filters,
)
from convex_evals.backend.system.schemas import user_tables
from convex_evals.backend.validators import ANY, NUMBER, STRING, ArrayValidator, LiteralValidator, UnionValidator
from convex_evals.backend.values import Value, dumps, encode

BATCH = 256

functions = Declarations()

ORDER = UnionValidator((LiteralValidator("asc"), LiteralValidator("desc")))

MAX_AT_ONCE = 4096
CLEARED_AT_ONCE = 4000
CLEARED_BYTES = 3_000_000

SUCCESS: Value = {"success": True}


def table_scan(table: str, order: str = "asc") -> dict[str, object]:
    return {"source": {"type": "FullTableScan", "tableName": table, "order": order}, "operators": []}


def read_documents(context: Context, query: object, limit: int | None = None) -> list[Document]:
    """The first `limit` documents of a query, or all of them."""
    stream = context.transaction.open_query(context.namespace, query)
    documents: list[Document] = []
    while limit is None or len(documents) < limit:
        wanted = BATCH if limit is None else min(BATCH, limit - len(documents))
        batch = stream.fetch(wanted)
        found_end = batch.done and len(batch.documents) < wanted
        stream.pull(len(batch.documents) + found_end)
        documents.extend(batch.documents)
        if batch.done:
            break
    return documents


def read_while_possible(context: Context, query: object, limit: int) -> list[Document]:
    """As many of the first `limit` documents as one call may read."""
    stream = context.transaction.open_query(context.namespace, query)
    documents: list[Document] = []
    while len(documents) < limit:
        try:
            batch = stream.fetch(1)
            stream.pull(1)
        except DeveloperError:
            break
        documents.extend(batch.documents)
        if not batch.documents:
            break
    return documents


def find_document(context: Context, document_id: str, table: str | None = None) -> Value:
    """The document, or None when the id is not one, is of another table, or points nowhere."""
    try:
        is_system = is_system_table_number(DocumentId.decode(document_id).table_number)
        expected = None if table is None else public_name(table)
        document = context.transaction.get(context.namespace, document_id, expected, is_system=is_system)
    except DeveloperError:
        return None
    return None if document is None else dict(document.value)


def is_readable(table: str) -> bool:
    return not table.startswith("_") or table in PUBLIC_SYSTEM_TABLES


@functions.query("frontend/listTableScan", table=STRING, limit=NUMBER)
def list_table_scan(context: Context, table: str, limit: float) -> Value:
    """Newest first."""
    return [dict(document.value) for document in read_while_possible(context, table_scan(table, "desc"), int(limit))]


@functions.query("frontend/getById", id=STRING)
def get_by_id(context: Context, id: str) -> Value:
    return find_document(context, id)


@functions.query("frontend/listById", ids=ArrayValidator(object_of(id=STRING, tableName=STRING)))
def list_by_id(context: Context, ids: list[dict[str, str]]) -> Value:
    return [find_document(context, entry["id"], entry["tableName"]) for entry in ids]


@functions.query("frontend/tableSize", tableName=STRING)
@functions.query("cli/tableSize", tableName=STRING)
def table_size(context: Context, table_name: str) -> Value:
    return float(context.transaction.count(context.namespace, table_name)) if table_name else 0.0


@functions.query("frontend/tableSize:sizeOfAllTables")
def size_of_all_tables(context: Context) -> Value:
    return float(sum(context.transaction.count(context.namespace, name) for _, name in user_tables(context)))


@functions.query("cli/queryTable", tableName=STRING)
def query_table(context: Context, table_name: str) -> Value:
    """A random number: subscribers get a new one whenever the table changes."""
    context.transaction.count(context.namespace, table_name)
    return random.random()


@functions.query("cli/tableData", table=STRING, order=ORDER, paginationOpts=PAGINATION)
def table_data(context: Context, table: str, order: str, pagination_opts: dict[str, Value]) -> Value:
    return paginate(context, table_scan(table, order), PageOptions.parse(pagination_opts), lambda document: document)


@functions.query("frontend/paginatedTableDocuments", table=STRING, filters=nullable(STRING), paginationOpts=PAGINATION)
def paginated_table_documents(
    context: Context, table: str, filters: str | None, pagination_opts: dict[str, Value]
) -> Value:
    chosen = parse_filters(filters)
    problems = chosen.problems or _index_problems(context, table, chosen)
    if problems:
        return last_page([problem.to_value() for problem in problems])
    if chosen.document_id is not None:
        document = find_document(context, chosen.document_id, table)
        return last_page([] if document is None else [document])

    def show(document: dict[str, Value]) -> Value | None:
        return document if chosen.accepts(document) else None

    query = {"source": _source(context, table, chosen), "operators": chosen.operators}
    return paginate(context, query, PageOptions.parse(pagination_opts), show)


def _table(context: Context, name: str) -> Table | None:
    if not is_readable(name):
        return None
    return context.transaction.table_named(context.namespace, name)


def _spec(context: Context, table_name: str, index: str) -> IndexSpec | SearchIndexSpec | None:
    table = _table(context, table_name)
    if table is None:
        return None
    context.transaction.depend_on_indexes(table)
    found = table.index(index)
    usable = found is not None and not found.pending and not found.spec.staged
    return found.spec if found and usable and isinstance(found.spec, IndexSpec | SearchIndexSpec) else None


def _index_problems(context: Context, table: str, filters: Filters) -> list[Problem]:
    chosen = filters.index
    if chosen is None:
        return []
    problem = _index_problem(chosen, _spec(context, table, chosen.name), filters)
    return [] if problem is None else [problem]


def _index_problem(
    chosen: IndexFilter | SearchFilter, spec: IndexSpec | SearchIndexSpec | None, filters: Filters
) -> Problem | None:
    name = chosen.name
    match chosen, spec:
        case _, None:
            return Problem(WHOLE, f"Index {name} does not exist.")
        case IndexFilter(), IndexSpec():
            return chosen.problem(spec.fields)
        case IndexFilter(), _:
            text = f"Index {name} is a search index, but the query is trying to use it as a database index."
            return Problem(WHOLE, text)
        case SearchFilter(), SearchIndexSpec():
            return chosen.problem(spec.filter_fields, filters.order)
        case _:
            text = f"Index {name} is not a search index, but the query is trying to use it as search index."
            return Problem(WHOLE, text)


def _source(context: Context, table: str, filters: Filters) -> object:
    chosen = filters.index
    if chosen is None:
        return table_scan(table, filters.order)["source"]
    spec = _spec(context, table, chosen.name)
    name = f"{table}.{chosen.name}"
    match chosen, spec:
        case IndexFilter(), IndexSpec():
            return {"type": "IndexRange", "indexName": name, "range": chosen.range(spec.fields), "order": filters.order}
        case SearchFilter(), SearchIndexSpec():
            return {"type": "Search", "indexName": name, "filters": chosen.filters(spec.search_field)}
        case _:
            raise AssertionError("the index was checked before")


@contextmanager
def refusals_as_data() -> Iterator[None]:
    """What the database refuses reaches the caller as the data of a ConvexError: redaction lets it through."""
    try:
        yield
    except DeveloperError as error:
        raise ConvexError(error.message, dumps(error.message)) from error


def refused(error: str) -> Value:
    return {"success": False, "error": error}


@functions.mutation("frontend/addDocument", table=STRING, documents=ArrayValidator(ANY))
def add_document(context: Context, table: str, documents: list[Value]) -> Value:
    if len(documents) > MAX_AT_ONCE:
        return refused(f"Can’t import more than {MAX_AT_ONCE} documents at once.")
    with refusals_as_data():
        for document in documents:
            context.transaction.insert(context.namespace, table, encode(document))
    return SUCCESS


@functions.mutation("frontend/patchDocumentsFields", table=STRING, fields=ANY, ids=optional(ArrayValidator(STRING)))
def patch_documents_fields(context: Context, table: str, fields: Value, ids: list[str] | None = None) -> Value:
    """Without `ids`, every document of the table."""
    with refusals_as_data():
        if not isinstance(fields, dict):
            raise DeveloperError("`fields` must be an object")
        changes = {name: _patched(value) for name, value in fields.items()}
        chosen = ids if ids is not None else [document.id for document in read_documents(context, table_scan(table))]
        for document_id in chosen:
            context.transaction.patch(context.namespace, document_id, changes, table)
    return SUCCESS


def _patched(value: Value) -> object:
    return {"$undefined": None} if value == UNDEFINED_PLACEHOLDER else encode(value)


@functions.mutation("frontend/replaceDocument", id=STRING, document=ANY)
def replace_document(context: Context, id: str, document: Value) -> Value:
    if find_document(context, id) is None:
        return refused("Document does not exist.")
    with refusals_as_data():
        context.transaction.replace(context.namespace, id, encode(document))
    return SUCCESS


@functions.mutation("frontend/deleteDocuments", toDelete=ArrayValidator(object_of(id=STRING, tableName=STRING)))
def delete_documents(context: Context, to_delete: list[dict[str, str]]) -> Value:
    if len(to_delete) > MAX_AT_ONCE:
        return refused(f"You can't delete more than {MAX_AT_ONCE}. Try selecting fewer documents instead..")
    for entry in to_delete:
        context.transaction.delete(context.namespace, entry["id"], entry["tableName"])
    return SUCCESS


@functions.mutation("frontend/clearTablePage", tableName=STRING, cursor=nullable(STRING))
def clear_table_page(context: Context, table_name: str, cursor: str | None) -> Value:
    """Oldest first; to be called again with the cursor while there is more."""
    request = PageRequest(
        table_scan(table_name), cursor, CLEARED_AT_ONCE, maximum_bytes_read=CLEARED_BYTES, in_component=True
    )
    page = context.transaction.paginate(context.namespace, request)
    for document in page.documents:
        context.transaction.delete(context.namespace, document.id)
    return {
        "deleted": float(len(page.documents)),
        "hasMore": not page.is_done,
        "continueCursor": page.continue_cursor,
    }


@functions.mutation("frontend/createTable", table=STRING)
def create_table(context: Context, table: str) -> Value:
    """A table is created by its first document, even one that is deleted at once."""
    document = context.transaction.insert(context.namespace, table, {})
    context.transaction.delete(context.namespace, document.id)
    return None
