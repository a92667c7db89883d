"""Cron jobs of one component instance: the rows that the scheduler runs, brought in line with what was pushed."""

from collections.abc import Iterable
from typing import cast

from convex_evals.backend.crons import first_run
from convex_evals.backend.database import Document, Transaction
from convex_evals.backend.deployed import CronSpec
from convex_evals.backend.push.diff import CronDiff
from convex_evals.backend.values import Value

JOBS, NEXT_RUNS, LOGS = "_cron_jobs", "_cron_next_run", "_cron_job_logs"
KEEP_PLANNED_WITHIN_NS = 30 * 1_000_000_000


def update_jobs(transaction: Transaction, namespace: str, specs: Iterable[CronSpec], now: int) -> CronDiff:
    """`now` in nanoseconds. Jobs that did not change keep their next run."""
    stored = {str(row.value["name"]): row for row in transaction.system.scan(namespace, JOBS, "by_name")}
    wanted = {spec.identifier: spec for spec in specs}
    diff = CronDiff(deleted=sorted(stored.keys() - wanted.keys()))
    for name in diff.deleted:
        _delete(transaction, namespace, stored[name])
    for name, spec in wanted.items():
        if name not in stored:
            _insert(transaction, namespace, spec, now)
            diff.added.append(name)
        elif stored[name].value["cronSpec"] != _spec_value(spec):
            _update(transaction, namespace, stored[name], spec, now)
            diff.updated.append(name)
    return diff


def _insert(transaction: Transaction, namespace: str, spec: CronSpec, now: int) -> None:
    job = transaction.system.insert(namespace, JOBS, {"name": spec.identifier, "cronSpec": _spec_value(spec)})
    next_run: dict[str, Value] = {
        "cronJobId": job.id,
        "state": {"type": "pending"},
        "prevTs": None,
        "nextTs": first_run(spec.schedule, spec.identifier, now),
    }
    transaction.system.insert(namespace, NEXT_RUNS, next_run)


def _update(transaction: Transaction, namespace: str, job: Document, spec: CronSpec, now: int) -> None:
    before = cast("dict[str, Value]", job.value["cronSpec"])["cronSchedule"]
    transaction.system.patch(namespace, JOBS, job.id, {"cronSpec": _spec_value(spec)})
    next_run = transaction.system.first(namespace, NEXT_RUNS, "by_cron_job", [job.id])
    if before == spec.schedule or next_run is None or _stays_planned(next_run, now):
        return
    following = first_run(spec.schedule, spec.identifier, now)
    transaction.system.patch(namespace, NEXT_RUNS, next_run.id, {"nextTs": following})


def _stays_planned(next_run: Document, now: int) -> bool:
    """A run under way or about to begin is not taken back: the new schedule applies after it."""
    state = cast("dict[str, Value]", next_run.value["state"])
    return state["type"] == "inProgress" or cast(int, next_run.value["nextTs"]) - now < KEEP_PLANNED_WITHIN_NS


def _delete(transaction: Transaction, namespace: str, job: Document) -> None:
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
