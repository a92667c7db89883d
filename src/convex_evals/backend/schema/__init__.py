"""Schemas: tables, their document validators and their indexes."""

from convex_evals.backend.schema.indexes import (
    Index,
    IndexDiff,
    IndexSpec,
    NamedIndex,
    SearchIndexSpec,
    VectorIndexSpec,
    diff_indexes,
)
from convex_evals.backend.schema.schema import Schema

__all__ = [
    "Index",
    "IndexDiff",
    "IndexSpec",
    "NamedIndex",
    "Schema",
    "SearchIndexSpec",
    "VectorIndexSpec",
    "diff_indexes",
]
