"""Rows of `_cron_job_logs`: how the last few runs of each cron job went."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from convex_evals.backend.database import Transaction
from convex_evals.backend.runtime.types import LogLine
from convex_evals.backend.scheduler.cron_rows import CronRun
from convex_evals.backend.values import Value

LOGS: Final = "_cron_job_logs"
KEPT_PER_JOB: Final = 5
LONGEST_TEXT: Final = 1000


@dataclass(frozen=True, slots=True)
class Report:
    """How a run went. `lines` are texts, as clients would get them."""

    status: dict[str, Value]
    lines: Sequence[str] = ()
    seconds: float = 0.0

    @classmethod
    def success(cls, result: str, lines: Sequence[LogLine], seconds: float) -> "Report":
        """`result` is Convex JSON text."""
        fits = len(result) <= LONGEST_TEXT
        shown: dict[str, Value] = (
            {"type": "default", "value": result}
            if fits
            else {"type": "truncated", "truncated_log": result[:LONGEST_TEXT]}
        )
        return cls({"type": "success", "result": shown}, [line.text for line in lines], seconds)

    @classmethod
    def failure(cls, error: str, lines: Sequence[LogLine] = (), seconds: float = 0.0) -> "Report":
        return cls({"type": "err", "error": error}, [line.text for line in lines], seconds)

    @classmethod
    def skipped(cls, count: int, job_id: str) -> "Report":
        line = f"Skipping {count} run(s) of job {job_id} because multiple scheduled runs are in the past"
        return cls({"type": "canceled", "num_canceled": count}, [line])


def insert(transaction: Transaction, run: CronRun, report: Report) -> None:
    """Adds the newest entry, and removes the oldest when there are too many."""
    namespace, system = run.key.namespace, transaction.system
    system.insert(
        namespace,
        LOGS,
        {
            "name": run.name,
            "ts": run.due,
            "udfPath": run.udf_path,
            "udfArgs": run.udf_args,
            "status": report.status,
            "logLines": _truncated(report.lines),
            "executionTime": report.seconds,
        },
    )
    for row in system.scan(namespace, LOGS, "by_name_and_ts", [run.name], descending=True)[KEPT_PER_JOB:]:
        system.delete(namespace, LOGS, row.id)


def _truncated(lines: Sequence[str]) -> dict[str, Value]:
    kept: list[Value] = []
    room = LONGEST_TEXT
    for line in lines:
        if len(line) > room:
            return {"logLines": [*kept, line[:room]] if room else kept, "isTruncated": True}
        kept.append(line)
        room -= len(line)
    return {"logLines": kept, "isTruncated": False}
