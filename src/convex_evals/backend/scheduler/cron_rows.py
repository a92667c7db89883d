"""Rows of `_cron_jobs` and `_cron_next_run`: what runs next."""

from dataclasses import dataclass
from typing import Final, cast

import orjson

from convex_evals.backend.database import Transaction
from convex_evals.backend.scheduler.planned import RowKey
from convex_evals.backend.values import Value

JOBS: Final = "_cron_jobs"
NEXT_RUNS: Final = "_cron_next_run"


@dataclass(frozen=True, slots=True)
class CronRun:
    """One occurrence of a cron job. `key` is that of its row in `_cron_next_run`."""

    key: RowKey
    job_id: str
    name: str
    udf_path: str
    udf_args: bytes
    schedule: dict[str, object]
    due: int
    in_progress: bool

    @property
    def args(self) -> object:
        return orjson.loads(self.udf_args)


def read(transaction: Transaction, key: RowKey) -> CronRun | None:
    """The next run as it is planned now; None when the job was removed."""
    row = transaction.system.get(key.namespace, NEXT_RUNS, key.id)
    job = row and transaction.system.get(key.namespace, JOBS, str(row.value["cronJobId"]))
    if row is None or job is None:
        return None
    spec = cast("dict[str, Value]", job.value["cronSpec"])
    return CronRun(
        key=key,
        job_id=job.id,
        name=str(job.value["name"]),
        udf_path=str(spec["udfPath"]),
        udf_args=cast(bytes, spec["udfArgs"]),
        schedule=cast("dict[str, object]", spec["cronSchedule"]),
        due=cast(int, row.value["nextTs"]),
        in_progress=cast("dict[str, Value]", row.value["state"])["type"] == "inProgress",
    )


def is_planned(transaction: Transaction, run: CronRun) -> bool:
    """Whether the occurrence still stands, with the target and the schedule it was read with, and nobody runs it."""
    return not run.in_progress and read(transaction, run.key) == run


def begin(transaction: Transaction, run: CronRun) -> None:
    transaction.system.patch(run.key.namespace, NEXT_RUNS, run.key.id, {"state": {"type": "inProgress"}})


def plan(transaction: Transaction, run: CronRun, following: int) -> None:
    """The run after `run`."""
    fields: dict[str, Value] = {"state": {"type": "pending"}, "prevTs": run.due, "nextTs": following}
    transaction.system.patch(run.key.namespace, NEXT_RUNS, run.key.id, fields)
