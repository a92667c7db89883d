"""Looking at the documents of a table."""

import random

from convex_evals.backend.database.tables import Table
from convex_evals.backend.schema import IndexSpec, SearchIndexSpec
from convex_evals.backend.system.arguments import PAGINATION, fields, nullable
from convex_evals.backend.system.declarations import Context, Declarations
from convex_evals.backend.system.documents import find, is_readable, read_while_possible, table_scan
from convex_evals.backend.system.filters import (
    WHOLE,
    Filters,
    IndexFilter,
    Problem,
    SearchFilter,
    parse_filters,
)
from convex_evals.backend.system.pages import PageOptions, last_page, paginate
from convex_evals.backend.system.schemas import user_tables
from convex_evals.backend.validators import NUMBER, STRING, ArrayValidator, LiteralValidator, UnionValidator
from convex_evals.backend.values import Value

functions = Declarations()

ORDER = UnionValidator((LiteralValidator("asc"), LiteralValidator("desc")))


@functions.query("frontend/listTableScan", table=STRING, limit=NUMBER)
def list_table_scan(context: Context, table: str, limit: float) -> Value:
    """Newest first."""
    return [dict(document.value) for document in read_while_possible(context, table_scan(table, "desc"), int(limit))]


@functions.query("frontend/getById", id=STRING)
def get_by_id(context: Context, id: str) -> Value:
    return find(context, id)


@functions.query("frontend/listById", ids=ArrayValidator(fields(id=STRING, tableName=STRING)))
def list_by_id(context: Context, ids: list[dict[str, str]]) -> Value:
    return [find(context, entry["id"], entry["tableName"]) for entry in ids]


@functions.query("frontend/tableSize", tableName=STRING)
@functions.query("cli/tableSize", tableName=STRING)
def table_size(context: Context, table_name: str) -> Value:
    return float(context.transaction.count(context.namespace, table_name)) if table_name else 0.0


@functions.query("frontend/tableSize:sizeOfAllTables")
def size_of_all_tables(context: Context) -> Value:
    return float(sum(context.transaction.count(context.namespace, name) for _, name in user_tables(context)))


@functions.query("cli/queryTable", tableName=STRING)
def query_table(context: Context, table_name: str) -> Value:
    """Another number whenever the table changed: a signal, for whoever subscribes."""
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
        document = find(context, chosen.document_id, table)
        return last_page([] if document is None else [document])

    def show(document: dict[str, Value]) -> Value | None:
        return document if chosen.accepts(document) else None

    return paginate(context, _query(context, table, chosen), PageOptions.parse(pagination_opts), show)


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


def _query(context: Context, table: str, filters: Filters) -> object:
    return {"source": _source(context, table, filters), "operators": filters.operators}


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
