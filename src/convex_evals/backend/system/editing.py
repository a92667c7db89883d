"""Writing documents by hand, as the data browser and test harnesses do."""

from collections.abc import Iterator
from contextlib import contextmanager

from convex_evals.backend.database.pagination import PageRequest
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.system.arguments import fields as declared_fields
from convex_evals.backend.system.arguments import nullable, optional
from convex_evals.backend.system.declarations import Context, Declarations
from convex_evals.backend.system.documents import find, read, table_scan
from convex_evals.backend.system.placeholder import UNDEFINED_PLACEHOLDER
from convex_evals.backend.validators import ANY, STRING, ArrayValidator
from convex_evals.backend.values import Value, dumps, encode

functions = Declarations()

MOST_AT_ONCE = 4096
CLEARED_AT_ONCE = 4000
CLEARED_BYTES = 3_000_000

SUCCESS: Value = {"success": True}


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
    if len(documents) > MOST_AT_ONCE:
        return refused(f"Can’t import more than {MOST_AT_ONCE} documents at once.")
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
        chosen = ids if ids is not None else [document.id for document in read(context, table_scan(table))]
        for document_id in chosen:
            context.transaction.patch(context.namespace, document_id, changes, table)
    return SUCCESS


def _patched(value: Value) -> object:
    return {"$undefined": None} if value == UNDEFINED_PLACEHOLDER else encode(value)


@functions.mutation("frontend/replaceDocument", id=STRING, document=ANY)
def replace_document(context: Context, id: str, document: Value) -> Value:
    if find(context, id) is None:
        return refused("Document does not exist.")
    with refusals_as_data():
        context.transaction.replace(context.namespace, id, encode(document))
    return SUCCESS


@functions.mutation("frontend/deleteDocuments", toDelete=ArrayValidator(declared_fields(id=STRING, tableName=STRING)))
def delete_documents(context: Context, to_delete: list[dict[str, str]]) -> Value:
    if len(to_delete) > MOST_AT_ONCE:
        return refused(f"You can't delete more than {MOST_AT_ONCE}. Try selecting fewer documents instead..")
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
    """A table comes into being with its first document, even one that is deleted at once."""
    document = context.transaction.insert(context.namespace, table, {})
    context.transaction.delete(context.namespace, document.id)
    return None
