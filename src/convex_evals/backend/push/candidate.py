"""A push that was started and may be finished, and what it does to the tables of every mounted component."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convex_evals.backend.database import (
    Transaction,
    find_violation,
    index_diff,
    prepare_schema,
    validate_schema,
)
from convex_evals.backend.deployed import ComponentInstance, NodePackage
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.push.analysis import Analysis
from convex_evals.backend.push.errors import refused
from convex_evals.backend.push.tree import allocate_ids, namespace_of
from convex_evals.backend.schema import IndexDiff

Json = dict[str, Any]
Instances = Mapping[str, ComponentInstance]
COMPLETE: Json = {"type": "complete"}
OVERWRITTEN: Json = {"type": "raceDetected"}


@dataclass(slots=True)
class SchemaChange:
    """What a push does to each mounted component's tables, by component path."""

    allocated_component_ids: dict[str, str] = field(default_factory=dict)
    schema_ids: dict[str, str | None] = field(default_factory=dict)
    index_diffs: dict[str, IndexDiff] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        return {
            "allocatedComponentIds": self.allocated_component_ids,
            "schemaIds": self.schema_ids,
            "indexDiffs": {path: diff.to_json() for path, diff in self.index_diffs.items()},
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """A started push, which can be dropped. The CLI sends `token` with all its requests about this push."""

    token: str
    analysis: Analysis
    change: SchemaChange
    node_version: str | None
    node_packages: tuple[NodePackage, ...]
    is_dry_run: bool


def describe_changes(transaction: Transaction, analysis: Analysis, instances: Instances) -> SchemaChange:
    """The change without making it."""
    change = SchemaChange(allocate_ids(analysis.app, instances))
    for mounted in analysis.app.walk():
        namespace = _namespace(mounted.path, change, instances)
        schema = analysis.schemas[mounted.definition.path]
        change.index_diffs[mounted.path] = index_diff(transaction, namespace, schema)
        change.schema_ids[mounted.path] = None
    return change


def prepare_changes(transaction: Transaction, analysis: Analysis, instances: Instances) -> SchemaChange:
    """Creates tables, and schemas and indexes that are not visible yet."""
    change = describe_changes(transaction, analysis, instances)
    for mounted in analysis.app.walk():
        namespace = _namespace(mounted.path, change, instances)
        try:
            schema_id = prepare_schema(transaction, namespace, analysis.schemas[mounted.definition.path])
        except DeveloperError as error:
            raise refused("TooManyTables", error.message) from error
        change.schema_ids[mounted.path] = schema_id
    return change


def validate_changes(transaction: Transaction, candidate: Candidate, instances: Instances) -> Json:
    """Whether existing documents match the prepared schemas: the answer to wait_for_schema."""
    for path, schema_id in candidate.change.schema_ids.items():
        namespace = _namespace(path, candidate.change, instances)
        if schema_id is None:
            continue
        if schema_id not in transaction.catalog(namespace).schemas:
            return OVERWRITTEN
        stored = validate_schema(transaction, namespace, schema_id)
        if stored.state == "overwritten":
            return OVERWRITTEN
        if stored.state == "failed":
            return _failed(path, stored.table, stored.error or "Schema validation failed.")
    return COMPLETE


def validate_dry_run(transaction: Transaction, candidate: Candidate, instances: Instances) -> Json:
    """The same for a push that prepared nothing."""
    for mounted in candidate.analysis.app.walk():
        schema = candidate.analysis.schemas[mounted.definition.path]
        namespace = _namespace(mounted.path, candidate.change, instances)
        violation = find_violation(transaction, namespace, schema) if schema is not None else None
        if violation is not None:
            return _failed(mounted.path, violation.table, violation.error)
    return COMPLETE


def _namespace(path: str, change: SchemaChange, instances: Instances) -> str:
    existing = instances.get(path)
    return existing.id if existing is not None else namespace_of(path, change.allocated_component_ids)


def _failed(path: str, table: str | None, error: str) -> Json:
    return {"type": "failed", "error": error, "componentPath": path, "tableName": table}
