"""What finish_push does inside its one transaction."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from convex_evals.backend.crons import first_run
from convex_evals.backend.database import Document, Transaction, activate_schema
from convex_evals.backend.deployed import Application, ComponentDefinition, ComponentInstance, CronSpec
from convex_evals.backend.push.candidate import Candidate
from convex_evals.backend.push.modules import CRONS_PATH
from convex_evals.backend.push.response import ComponentDiff, CronDiff
from convex_evals.backend.push.storage import store_application
from convex_evals.backend.push.tree import DiffType, mount
from convex_evals.backend.schema import IndexDiff
from convex_evals.backend.values import Value

JOBS, NEXT_RUNS, LOGS = "_cron_jobs", "_cron_next_run", "_cron_job_logs"
KEEP_PLANNED_WITHIN_NS = 30 * 1_000_000_000


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
    stored = {str(row.value["name"]): row for row in transaction.system.scan(namespace, JOBS, "by_name")}
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
    job = transaction.system.insert(namespace, JOBS, {"name": spec.identifier, "cronSpec": _spec_value(spec)})
    next_run: dict[str, Value] = {
        "cronJobId": job.id,
        "state": {"type": "pending"},
        "prevTs": None,
        "nextTs": first_run(spec.schedule, spec.identifier, now),
    }
    transaction.system.insert(namespace, NEXT_RUNS, next_run)


def _update_job(transaction: Transaction, namespace: str, job: Document, spec: CronSpec, now: int) -> None:
    before = cast("dict[str, Value]", job.value["cronSpec"])["cronSchedule"]
    transaction.system.patch(namespace, JOBS, job.id, {"cronSpec": _spec_value(spec)})
    next_run = transaction.system.first(namespace, NEXT_RUNS, "by_cron_job", [job.id])
    if before == spec.schedule or next_run is None or _stays_planned(next_run, now):
        return
    following = first_run(spec.schedule, spec.identifier, now)
    transaction.system.patch(namespace, NEXT_RUNS, next_run.id, {"nextTs": following})


def _stays_planned(next_run: Document, now: int) -> bool:
    """A run under way or about to begin stays: the new schedule applies after it."""
    state = cast("dict[str, Value]", next_run.value["state"])
    return state["type"] == "inProgress" or cast(int, next_run.value["nextTs"]) - now < KEEP_PLANNED_WITHIN_NS


def _delete_job(transaction: Transaction, namespace: str, job: Document) -> None:
    transaction.system.delete(namespace, JOBS, job.id)
    for row in transaction.system.scan(namespace, NEXT_RUNS, "by_cron_job", [job.id]):
        transaction.system.delete(namespace, NEXT_RUNS, row.id)
    for row in transaction.system.scan(namespace, LOGS, "by_name_and_ts", [job.value["name"]]):
        transaction.system.delete(namespace, LOGS, row.id)


def _spec_value(spec: CronSpec) -> dict[str, Value]:
    return {
        "udfPath": spec.udf_path,
        "udfArgs": spec.udf_args.encode(),
        "cronSchedule": cast("dict[str, Value]", spec.schedule),
    }
