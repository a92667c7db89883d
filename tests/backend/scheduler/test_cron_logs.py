from typing import Any

import pytest

from convex_evals.backend.database import Database
from convex_evals.backend.runtime.types import LogLine
from convex_evals.backend.scheduler import cron_logs
from convex_evals.backend.scheduler.cron_logs import Report
from convex_evals.backend.scheduler.cron_rows import CronRun
from convex_evals.backend.scheduler.planned import RowKey

HOURLY: dict[str, object] = {"type": "interval", "seconds": 3600}


def run(due: int, name: str = "x") -> CronRun:
    return CronRun(RowKey("", "next"), "job", name, "m.js:f", b"[{}]", HOURLY, due, in_progress=False)


def logged(*reports: Report) -> list[dict[str, Any]]:
    database = Database.open(None)
    for due, report in enumerate(reports):
        transaction = database.begin()
        cron_logs.insert(transaction, run(due), report)
        database.commit(transaction)
    return [row.value for row in database.begin().system.scan("", "_cron_job_logs")]


def lines(*texts: str) -> list[LogLine]:
    return [LogLine("LOG", (text,), 1.0) for text in texts]


def test_the_oldest_entries_make_room() -> None:
    assert [entry["ts"] for entry in logged(*[Report.failure("no")] * 8)] == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("null", {"type": "default", "value": "null"}),
        ("9" * 1000, {"type": "default", "value": "9" * 1000}),
        ("9" * 1001, {"type": "truncated", "truncated_log": "9" * 1000}),
    ],
)
def test_a_long_result_is_cut(result: str, shown: dict[str, str]) -> None:
    [entry] = logged(Report.success(result, [], 0.5))
    assert (entry["status"], entry["executionTime"]) == ({"type": "success", "result": shown}, 0.5)


@pytest.mark.parametrize(
    ("given", "kept", "is_truncated"),
    [
        ([], [], False),
        (["a", "b"], ["[LOG] a", "[LOG] b"], False),
        (["x" * 994], ["[LOG] " + "x" * 994], False),
        (["a", "x" * 2000, "b"], ["[LOG] a", "[LOG] " + "x" * 987], True),
        (["x" * 994, "b"], ["[LOG] " + "x" * 994], True),
    ],
)
def test_long_log_lines_are_cut(given: list[str], kept: list[str], is_truncated: bool) -> None:
    [entry] = logged(Report.success("null", lines(*given), 0.5))
    assert entry["logLines"] == {"logLines": kept, "isTruncated": is_truncated}
