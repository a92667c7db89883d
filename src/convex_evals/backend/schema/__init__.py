"""Schemas: tables, their document validators and their indexes."""

from convex_evals.backend.schema.diff import IndexDiff, NamedIndex, diff_indexes
from convex_evals.backend.schema.indexes import Index, IndexSpec, SearchIndexSpec, VectorIndexSpec
from convex_evals.backend.schema.schema import Schema
from convex_evals.backend.schema.tables import TableDefinition

__all__ = [
    "Index",
    "IndexDiff",
    "IndexSpec",
    "NamedIndex",
    "Schema",
    "SearchIndexSpec",
    "TableDefinition",
    "VectorIndexSpec",
    "diff_indexes",
]
