"""Reading documents of one component, whatever table they are in."""

from convex_evals.backend.database.documents import Document
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import PUBLIC_SYSTEM_TABLES, DocumentId, is_system_table_number, public_name
from convex_evals.backend.system.declarations import Context
from convex_evals.backend.values import Value

BATCH = 256


def table_scan(table: str, order: str = "asc") -> dict[str, object]:
    return {"source": {"type": "FullTableScan", "tableName": table, "order": order}, "operators": []}


def read(context: Context, query: object, limit: int | None = None) -> list[Document]:
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


def find(context: Context, document_id: str, table: str | None = None) -> Value:
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
