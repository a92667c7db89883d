"""Vector search over committed documents, outside any transaction."""

from collections.abc import Mapping
from typing import Any

from convex_evals.backend.database.committed import CommittedState
from convex_evals.backend.database.index_lookup import check_usable, index_not_found, split_index_name
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.schema import VectorIndexSpec
from convex_evals.backend.search import VectorHit, VectorQuery


def vector_search(state: CommittedState, namespace: str, query: Mapping[str, Any]) -> list[VectorHit]:
    full_name = str(query["indexName"])
    table_name, name = split_index_name(full_name)
    catalog = state.catalogs.get(namespace)
    table = catalog.tables.get(table_name) if catalog is not None else None
    if table is None:
        return []
    index = table.index(name)
    if index is None:
        raise index_not_found(table_name, name)
    check_usable(index)
    if not isinstance(index.spec, VectorIndexSpec):
        raise DeveloperError(f"Index {full_name} is not a vector index")
    return state.searchable.vector(index).search(VectorQuery.compile(full_name, index.spec, query))
