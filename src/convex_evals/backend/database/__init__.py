"""Tables, indexes, transactions, queries, pagination, commit and persistence of one deployment."""

from convex_evals.backend.database.catalog import Catalog, StoredSchema
from convex_evals.backend.database.commits import Commit, Write
from convex_evals.backend.database.core import Savepoint
from convex_evals.backend.database.database import Database
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.indexes import TableIndex
from convex_evals.backend.database.pagination import Page, PageRequest
from convex_evals.backend.database.ranges import Bound
from convex_evals.backend.database.reads import ReadSet
from convex_evals.backend.database.schema_changes import (
    SchemaViolation,
    activate_schema,
    delete_tables,
    find_violation,
    index_diff,
    prepare_schema,
    validate_schema,
)
from convex_evals.backend.database.streams import Batch, QueryStream
from convex_evals.backend.database.system import SystemTables
from convex_evals.backend.database.tables import Table
from convex_evals.backend.database.transaction import Transaction
from convex_evals.backend.database.usage import Limits, Usage

__all__ = [
    "Batch",
    "Bound",
    "Catalog",
    "Commit",
    "Database",
    "Document",
    "Limits",
    "Page",
    "PageRequest",
    "QueryStream",
    "ReadSet",
    "Savepoint",
    "SchemaViolation",
    "StoredSchema",
    "SystemTables",
    "Table",
    "TableIndex",
    "Transaction",
    "Usage",
    "Write",
    "activate_schema",
    "delete_tables",
    "find_violation",
    "index_diff",
    "prepare_schema",
    "validate_schema",
]
