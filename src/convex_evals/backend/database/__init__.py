"""Tables, indexes, transactions, queries, pagination, commit and persistence of one deployment."""

from convex_evals.backend.database.commits import Commit, ReadSet
from convex_evals.backend.database.core import Savepoint
from convex_evals.backend.database.database import Database
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.pagination import Page, PageRequest
from convex_evals.backend.database.queries import QueryStream
from convex_evals.backend.database.ranges import Bound
from convex_evals.backend.database.schema_changes import (
    activate_schema,
    delete_tables,
    find_violation,
    index_diff,
    prepare_schema,
    validate_schema,
)
from convex_evals.backend.database.tables import Table
from convex_evals.backend.database.transaction import Transaction

__all__ = [
    "Bound",
    "Commit",
    "Database",
    "Document",
    "Page",
    "PageRequest",
    "QueryStream",
    "ReadSet",
    "Savepoint",
    "Table",
    "Transaction",
    "activate_schema",
    "delete_tables",
    "find_violation",
    "index_diff",
    "prepare_schema",
    "validate_schema",
]
