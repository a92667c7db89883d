"""What finish_push does inside its one transaction."""

from dataclasses import dataclass

from convex_evals.backend.database import Transaction, activate_schema
from convex_evals.backend.deployed import Application, ComponentDefinition, ComponentInstance
from convex_evals.backend.push.candidate import Candidate
from convex_evals.backend.push.cron_jobs import update_jobs
from convex_evals.backend.push.crons import CRONS_PATH
from convex_evals.backend.push.diff import ComponentDiff, CronDiff, DiffType
from convex_evals.backend.push.mounting import mount
from convex_evals.backend.push.storage import store_application
from convex_evals.backend.schema import IndexDiff


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
