"""Query JSON: from what the SDK sends to a source of rows and its operators."""

import hashlib
from typing import NamedTuple

import orjson

from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.index_lookup import check_usable, index_not_found, split_index_name
from convex_evals.backend.database.indexes import BY_CREATION_TIME, BY_ID, TableIndex
from convex_evals.backend.database.intervals import EVERYTHING
from convex_evals.backend.database.operators import Operators
from convex_evals.backend.database.ranges import compile_range
from convex_evals.backend.database.sources import IndexScan, NoRows, RowSource
from convex_evals.backend.database.tables import Table, system_table
from convex_evals.backend.database.text_search import TextSearch
from convex_evals.backend.database.views import VIEWS, View
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import PUBLIC_SYSTEM_TABLES


class CompiledQuery(NamedTuple):
    """`fingerprint` is equal for queries whose cursors may be exchanged."""

    source: RowSource
    operators: Operators
    fingerprint: bytes


class _Target(NamedTuple):
    """A table as app code names it; for a public system table, the private one and the view of its rows."""

    table: Table
    view: View | None


def compile_query(core: TransactionCore, namespace: str, json: object) -> CompiledQuery:
    """Raises DeveloperError for everything that is wrong with the query, except for text searches: they report their
    errors when the first row is asked for."""
    if not isinstance(json, dict) or not isinstance(json.get("source"), dict):
        raise DeveloperError("Invalid query: it must have a `source` and `operators`")
    source_json = json["source"]
    match source_json:
        case {"type": "FullTableScan", "tableName": str(name)}:
            index = None
            source = _full_scan(core, namespace, name, _is_descending(source_json))
        case {"type": "IndexRange", "indexName": str(full_name), "range": range_json}:
            target, index = _find_index(core, namespace, full_name)
            interval = compile_range(index, range_json)
            source = IndexScan(core, target.table, index, interval, _is_descending(source_json), target.view)
        case {"type": "Search", "indexName": str(full_name), "filters": list(filters)}:
            index = None
            source = TextSearch(core, namespace, *split_index_name(full_name), filters)
        case _:
            raise DeveloperError(f"Invalid query: unknown source {source_json.get('type')}")
    return CompiledQuery(source, Operators(json.get("operators", [])), _fingerprint(json, index))


def _full_scan(core: TransactionCore, namespace: str, name: str, descending: bool) -> RowSource:
    target = _find_table(core, namespace, name)
    if target is None:
        return NoRows()
    return IndexScan(core, target.table, target.table.by_creation_time, EVERYTHING, descending, target.view)


def _find_table(core: TransactionCore, namespace: str, name: str) -> _Target | None:
    private = PUBLIC_SYSTEM_TABLES.get(name)
    if private is not None:
        return _Target(system_table(namespace, private), VIEWS[name])
    table = None if name.startswith("_") else core.table_named(namespace, name)
    return None if table is None else _Target(table, None)


def _find_index(core: TransactionCore, namespace: str, full_name: str) -> tuple[_Target, TableIndex]:
    table_name, name = split_index_name(full_name)
    target = _find_table(core, namespace, table_name)
    if target is None:
        raise index_not_found(table_name, name)
    if target.view is None:
        core.depend_on_indexes(target.table)
    elif name not in (BY_ID, BY_CREATION_TIME):
        raise index_not_found(table_name, name)
    index = target.table.index(name)
    if index is None:
        raise index_not_found(table_name, name)
    check_usable(index)
    if not index.fields:
        raise DeveloperError(f"Index {table_name}.{name} is not a database index")
    return target, index


def _is_descending(source: dict[str, object]) -> bool:
    return source.get("order") == "desc"


def _fingerprint(json: dict[str, object], index: TableIndex | None) -> bytes:
    fields = list(index.fields) if index is not None else []
    text = orjson.dumps([json["source"], json.get("operators", []), fields], option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=8).digest()
