"""A push that was started and may be finished: what it does to the tables of mounted components, and its activation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from convex_evals.backend.crons import first_run
from convex_evals.backend.database import (
    Document,
    Transaction,
    activate_schema,
    find_violation,
    index_diff,
    prepare_schema,
    validate_schema,
)
from convex_evals.backend.deployed import Application, ComponentDefinition, ComponentInstance, CronSpec, NodePackage
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.push.analysis import Analysis
from convex_evals.backend.push.errors import refused
from convex_evals.backend.push.request import CRONS_PATH
from convex_evals.backend.push.storage import store_application
from convex_evals.backend.push.tree import DiffType, allocate_ids, mount, namespace_of
from convex_evals.backend.schema import IndexDiff
from convex_evals.backend.values import Value

Json = dict[str, Any]
Instances = Mapping[str, ComponentInstance]
COMPLETE: Json = {"type": "complete"}
OVERWRITTEN: Json = {"type": "raceDetected"}

CRON_JOBS, CRON_NEXT_RUNS, CRON_LOGS = "_cron_jobs", "_cron_next_run", "_cron_job_logs"
KEEP_PLANNED_WITHIN_NS = 30 * 1_000_000_000


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


@dataclass(slots=True)
class CronDiff:
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    def to_json(self) -> Json:
        return {"added": self.added, "updated": self.updated, "deleted": self.deleted}


@dataclass(slots=True)
class ComponentDiff:
    """What happened to one mounted component. The definitions are those before and after; None without one."""

    type: DiffType
    before: ComponentDefinition | None
    after: ComponentDefinition | None
    crons: CronDiff = field(default_factory=CronDiff)
    indexes: IndexDiff = field(default_factory=IndexDiff)

    def to_json(self, versions: tuple[str | None, str]) -> Json:
        return {
            "diffType": {"type": self.type},
            "moduleDiff": {
                "added": _missing(self.after, self.before),
                "removed": _missing(self.before, self.after),
            },
            "udfConfigDiff": _version_diff(*versions) if self.before is not None else None,
            "cronDiff": self.crons.to_json(),
            "indexDiff": self.indexes.to_json(),
            "schemaDiff": self._schema_diff(),
        }

    def _schema_diff(self) -> Json | None:
        before = self.before.schema if self.before else None
        after = self.after.schema if self.after else None
        return None if before == after else {"previous_schema": before, "next_schema": after}


def _missing(of: ComponentDefinition | None, within: ComponentDefinition | None) -> list[str]:
    """Modules of one definition that the other lacks, without shared chunks."""
    known = within.modules if within else {}
    return [
        path for path, module in (of.modules if of else {}).items() if path not in known and not module.is_dependency
    ]


def _version_diff(previous: str | None, following: str) -> Json | None:
    if previous is None or previous == following:
        return None
    return {"previous_version": previous, "next_version": following}


@dataclass(frozen=True, slots=True)
class Activation:
    application: Application
    diffs: dict[str, ComponentDiff]


def activate(transaction: Transaction, before: Application | None, candidate: Candidate, now: int) -> Activation:
    """Schemas, indexes, cron jobs and the application itself. Raises RequestError when the push came too late."""
    analysis, change = candidate.analysis, candidate.change
    mounting = mount(analysis.app, before.instances if before else {}, change.allocated_component_ids)
    after = Application(
        version=before.version + 1 if before else 1,
        udf_config=analysis.udf_config,
        definitions=analysis.definitions,
        instances=mounting.instances,
        auth_providers=analysis.auth_providers,
        node_version=candidate.node_version,
        node_packages=candidate.node_packages,
    )
    diffs = {
        path: _apply(transaction, before, after, mounting.instances[path], type, change.schema_ids.get(path), now)
        for path, type in mounting.changes.items()
    }
    store_application(transaction, after)
    return Activation(after, diffs)


def _apply(
    transaction: Transaction,
    before: Application | None,
    after: Application,
    instance: ComponentInstance,
    type: DiffType,
    schema_id: str | None,
    now: int,
) -> ComponentDiff:
    new = after.definition_of(instance.path)
    indexes = IndexDiff() if new is None else activate_schema(transaction, instance.id, schema_id)
    return ComponentDiff(
        type=type,
        before=before.definition_of(instance.path) if before else None,
        after=new,
        crons=_update_crons(transaction, instance, new, now),
        indexes=indexes,
    )


def _update_crons(
    transaction: Transaction, instance: ComponentInstance, definition: ComponentDefinition | None, now: int
) -> CronDiff:
    """An unmounted component has no definition, and so no jobs."""
    module = definition.analysis.get(CRONS_PATH) if definition else None
    return update_jobs(transaction, instance.id, (module and module.cron_specs) or (), now)


def update_jobs(transaction: Transaction, namespace: str, specs: Iterable[CronSpec], now: int) -> CronDiff:
    """`now` in nanoseconds. Jobs that did not change keep their next run."""
    stored = {str(row.value["name"]): row for row in transaction.system.scan(namespace, CRON_JOBS, "by_name")}
    wanted = {spec.identifier: spec for spec in specs}
    diff = CronDiff(deleted=sorted(stored.keys() - wanted.keys()))
    for name in diff.deleted:
        _delete_job(transaction, namespace, stored[name])
    for name, spec in wanted.items():
        if name not in stored:
            _insert_job(transaction, namespace, spec, now)
            diff.added.append(name)
        elif stored[name].value["cronSpec"] != _spec_value(spec):
            _update_job(transaction, namespace, stored[name], spec, now)
            diff.updated.append(name)
    return diff


def _insert_job(transaction: Transaction, namespace: str, spec: CronSpec, now: int) -> None:
    job = transaction.system.insert(namespace, CRON_JOBS, {"name": spec.identifier, "cronSpec": _spec_value(spec)})
    next_run: dict[str, Value] = {
        "cronJobId": job.id,
        "state": {"type": "pending"},
        "prevTs": None,
        "nextTs": first_run(spec.schedule, spec.identifier, now),
    }
    transaction.system.insert(namespace, CRON_NEXT_RUNS, next_run)


def _update_job(transaction: Transaction, namespace: str, job: Document, spec: CronSpec, now: int) -> None:
    before = cast("dict[str, Value]", job.value["cronSpec"])["cronSchedule"]
    transaction.system.patch(namespace, CRON_JOBS, job.id, {"cronSpec": _spec_value(spec)})
    next_run = transaction.system.first(namespace, CRON_NEXT_RUNS, "by_cron_job", [job.id])
    if before == spec.schedule or next_run is None or _stays_planned(next_run, now):
        return
    following = first_run(spec.schedule, spec.identifier, now)
    transaction.system.patch(namespace, CRON_NEXT_RUNS, next_run.id, {"nextTs": following})


def _stays_planned(next_run: Document, now: int) -> bool:
    """A run under way or about to begin stays: the new schedule applies after it."""
    state = cast("dict[str, Value]", next_run.value["state"])
    return state["type"] == "inProgress" or cast(int, next_run.value["nextTs"]) - now < KEEP_PLANNED_WITHIN_NS


def _delete_job(transaction: Transaction, namespace: str, job: Document) -> None:
    transaction.system.delete(namespace, CRON_JOBS, job.id)
    for row in transaction.system.scan(namespace, CRON_NEXT_RUNS, "by_cron_job", [job.id]):
        transaction.system.delete(namespace, CRON_NEXT_RUNS, row.id)
    for row in transaction.system.scan(namespace, CRON_LOGS, "by_name_and_ts", [job.value["name"]]):
        transaction.system.delete(namespace, CRON_LOGS, row.id)


def _spec_value(spec: CronSpec) -> dict[str, Value]:
    return {
        "udfPath": spec.udf_path,
        "udfArgs": spec.udf_args.encode(),
        "cronSchedule": cast("dict[str, Value]", spec.schedule),
    }
