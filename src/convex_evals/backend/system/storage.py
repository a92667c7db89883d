"""Stored files, as the file browser sees them."""

from convex_evals.backend.ids import DocumentId
from convex_evals.backend.system.declarations import (
    PAGINATION,
    Context,
    Declarations,
    PageOptions,
    object_of,
    optional,
    paginate,
)
from convex_evals.backend.validators import (
    NUMBER,
    STRING,
    ArrayValidator,
    IdValidator,
    LiteralValidator,
    UnionValidator,
)
from convex_evals.backend.values import Value

functions = Declarations()

TABLE = "_storage"
FILTERS = object_of(
    minCreationTime=optional(NUMBER),
    maxCreationTime=optional(NUMBER),
    order=optional(UnionValidator((LiteralValidator("asc"), LiteralValidator("desc")))),
)
BOUNDS = {"minCreationTime": "Gte", "maxCreationTime": "Lte"}


@functions.query("frontend/fileStorageV2:numFiles")
def num_files(context: Context) -> Value:
    return float(context.transaction.count(context.namespace, TABLE))


@functions.query("frontend/fileStorageV2:fileMetadata", paginationOpts=PAGINATION, filters=optional(FILTERS))
def file_metadata(
    context: Context, pagination_opts: dict[str, Value], filters: dict[str, Value] | None = None
) -> Value:
    """Newest first, unless asked otherwise."""
    chosen = filters or {}
    bounds = [
        {"type": comparison, "fieldPath": "_creationTime", "value": chosen[name]}
        for name, comparison in BOUNDS.items()
        if name in chosen
    ]
    source = {
        "type": "IndexRange",
        "indexName": f"{TABLE}.by_creation_time",
        "range": bounds,
        "order": chosen.get("order", "desc"),
    }
    query = {"source": source, "operators": []}
    return paginate(context, query, PageOptions.parse(pagination_opts), lambda document: _with_url(context, document))


@functions.query("frontend/fileStorageV2:getFile", storageId=STRING)
def get_file(context: Context, storage_id: str) -> Value:
    DocumentId.decode(storage_id)
    found = context.transaction.get(context.namespace, storage_id, TABLE, is_system=True)
    return None if found is None else _with_url(context, dict(found.value))


@functions.mutation("frontend/fileStorageV2:deleteFile", storageId=IdValidator(TABLE))
def delete_file(context: Context, storage_id: str) -> Value:
    context.facts.files.delete(context.transaction, context.instance, storage_id)
    return None


@functions.mutation("frontend/fileStorageV2:deleteFiles", storageIds=ArrayValidator(IdValidator(TABLE)))
def delete_files(context: Context, storage_ids: list[str]) -> Value:
    for storage_id in storage_ids:
        delete_file(context, storage_id)
    return None


@functions.mutation("frontend/fileStorageV2:generateUploadUrl")
def generate_upload_url(context: Context) -> Value:
    return context.facts.files.upload_url(context.instance)


def _with_url(context: Context, document: dict[str, Value]) -> Value:
    url = context.facts.files.get_url(context.transaction, context.instance, str(document["_id"]))
    return {**document, "url": url}
