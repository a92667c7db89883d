"""What a push does to the tables and indexes of every mounted component, before it is finished."""

from collections.abc import Mapping
from typing import Any

from convex_evals.backend.database import (
    Transaction,
    find_violation,
    index_diff,
    prepare_schema,
    validate_schema,
)
from convex_evals.backend.deployed import ComponentInstance
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.push.analysis import Analysis
from convex_evals.backend.push.candidate import Candidate, SchemaChange
from convex_evals.backend.push.errors import refused
from convex_evals.backend.push.mounting import allocate_ids, namespace_of

Json = dict[str, Any]
Instances = Mapping[str, ComponentInstance]

COMPLETE: Json = {"type": "complete"}
OVERWRITTEN: Json = {"type": "raceDetected"}


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
    """Creates tables, and schemas and indexes that nobody sees yet."""
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
    """Whether the documents there are match the prepared schemas: the answer to wait_for_schema."""
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
