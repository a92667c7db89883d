"""Cron jobs, run by a real deployment."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.backend.database import Database
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.logs import Completion
from convex_evals.backend.runtime import LogLine
from convex_evals.backend.scheduler import cron_jobs
from convex_evals.backend.scheduler.cron_jobs import CronRun, Report
from convex_evals.backend.scheduler.dispatcher import RowKey

# The types of conftest.py, which tests cannot import.
Scheduled = Any
Clock = Any

SECOND = 1_000_000_000
HOUR = 3600

HOURLY: dict[str, object] = {"type": "interval", "seconds": 3600}


@pytest.fixture
async def scheduled(scheduled_in: Callable[[Deployment], Scheduled]) -> AsyncIterator[Scheduled]:
    """Nothing is deployed yet: every test pushes crons of its own."""
    async with Deployment.start() as deployment:
        yield scheduled_in(deployment)


def every(seconds: int, path: str = "jobs:record", args: str = '{ name: "tick" }') -> str:
    return f'crons.interval("x", {{ seconds: {seconds} }}, f("{path}"), {args});'


def logs(scheduled: Scheduled) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = scheduled.rows("_cron_job_logs")
    return rows


async def logged(scheduled: Scheduled, eventually: Any, count: int = 1) -> list[dict[str, Any]]:
    async def there() -> bool:
        return len(logs(scheduled)) >= count

    await eventually(there)
    return logs(scheduled)


async def test_an_interval_runs_at_once_and_then_by_its_planned_times(
    scheduled: Scheduled, clock: Clock, eventually: Any
) -> None:
    await scheduled.push(every(HOUR))
    for runs in (1, 2):
        await logged(scheduled, eventually, runs)
        clock.jump(HOUR)
    first, second, third = await logged(scheduled, eventually, 3)
    assert (second["ts"] - first["ts"], third["ts"] - second["ts"]) == (HOUR * SECOND, HOUR * SECOND)
    assert await scheduled.seen("tick") == [{"job": None, "state": None, "user": None}] * 3


async def test_an_interval_runs_again_when_its_time_has_come(scheduled: Scheduled, eventually: Any) -> None:
    await scheduled.push(every(1))
    first, second = (await logged(scheduled, eventually, 2))[:2]
    assert second["ts"] - first["ts"] >= SECOND


async def test_a_run_is_logged_with_its_result_lines_and_duration(scheduled: Scheduled, eventually: Any) -> None:
    await scheduled.push(every(3600))
    [entry] = await logged(scheduled, eventually)
    [planned] = scheduled.rows("_cron_next_run")
    assert (entry["name"], entry["udfPath"], entry["udfArgs"]) == ("x", "jobs.js:record", b'[{"name":"tick"}]')
    assert entry["status"] == {"type": "success", "result": {"type": "default", "value": "null"}}
    assert entry["logLines"] == {"logLines": ["[LOG] 'recording' 'tick'"], "isTruncated": False}
    assert 0 < entry["executionTime"] < 60
    assert planned["state"] == {"type": "pending"}
    assert (planned["prevTs"], planned["nextTs"]) == (entry["ts"], entry["ts"] + 3600 * SECOND)


@pytest.mark.parametrize(
    ("path", "args", "error"),
    [
        ("jobs:fail", '{ name: "tick" }', "Uncaught Error: scheduled failure\n    at "),
        ("jobs:act", '{ name: "tick", fails: true }', "Uncaught Error: action failure\n    at "),
        ("jobs:record", "{}", "ArgumentValidationError: "),
    ],
)
async def test_an_error_is_logged_and_the_schedule_continues(
    scheduled: Scheduled, clock: Clock, eventually: Any, path: str, args: str, error: str
) -> None:
    await scheduled.push(every(HOUR, path, args))
    await logged(scheduled, eventually)
    clock.jump(HOUR)
    entries = await logged(scheduled, eventually, 2)
    assert [entry["status"]["type"] for entry in entries] == ["err", "err"]
    assert entries[0]["status"]["error"].startswith(error)


async def test_only_the_newest_five_runs_are_kept(scheduled: Scheduled, clock: Clock) -> None:
    await scheduled.push(every(3600))
    for number in range(1, 8):
        await scheduled.ran("tick", number)
        clock.jump(HOUR)
    await scheduled.ran("tick", 8)
    times = [entry["ts"] for entry in logs(scheduled)]
    assert len(times) == 5
    assert times[-1] == scheduled.rows("_cron_next_run")[0]["prevTs"]


async def test_a_run_longer_than_the_interval_skips_what_it_missed(
    scheduled: Scheduled, clock: Clock, eventually: Any
) -> None:
    await scheduled.push(every(HOUR, "jobs:act", '{ name: "tick", until: "late" }'))
    await scheduled.ran("tick")
    [planned] = scheduled.rows("_cron_next_run")
    assert planned["state"] == {"type": "inProgress"}
    clock.jump(2.5 * HOUR)
    await scheduled.go_on("late")
    done, skipped = await logged(scheduled, eventually, 2)
    [job] = scheduled.rows("_cron_jobs")
    assert (done["status"]["type"], skipped["status"]) == ("success", {"type": "canceled", "num_canceled": 2})
    assert skipped["logLines"]["logLines"] == [
        f"Skipping 2 run(s) of job {job['_id']} because multiple scheduled runs are in the past"
    ]
    assert len(await scheduled.seen("tick")) == 1
    assert scheduled.rows("_cron_next_run")[0]["nextTs"] == done["ts"] + 3 * HOUR * SECOND


async def test_after_a_jump_of_the_clock_a_cron_runs_once_and_keeps_its_phase(
    scheduled: Scheduled, clock: Clock, eventually: Any
) -> None:
    await scheduled.push(every(3600))
    [first] = await logged(scheduled, eventually)
    clock.jump(10 * HOUR + 5, notice=False)
    entries = await logged(scheduled, eventually, 3)
    assert entries[2]["status"] == {"type": "canceled", "num_canceled": 9}
    assert scheduled.rows("_cron_next_run")[0]["nextTs"] == first["ts"] + 11 * 3600 * SECOND
    assert len(await scheduled.seen("tick")) == 2


async def test_schedules_by_the_clock_run_at_their_minute(scheduled: Scheduled, clock: Clock, eventually: Any) -> None:
    await scheduled.push('crons.cron("x", "0 0 * * *", f("jobs:record"), { name: "tick" });')
    await asyncio.sleep(0.1)
    assert await scheduled.seen("tick") == []
    [planned] = scheduled.rows("_cron_next_run")
    assert planned["nextTs"] % (24 * HOUR * SECOND) == 0
    clock.jump((planned["nextTs"] - time.time_ns()) / SECOND, notice=False)
    [entry] = await logged(scheduled, eventually)
    assert entry["ts"] == planned["nextTs"]
    assert scheduled.rows("_cron_next_run")[0]["nextTs"] == planned["nextTs"] + 24 * HOUR * SECOND


async def test_an_unchanged_push_causes_no_extra_run(scheduled: Scheduled) -> None:
    await scheduled.push(every(3600))
    await scheduled.ran("tick")
    await scheduled.push(every(3600))
    await asyncio.sleep(0.2)
    assert len(await scheduled.seen("tick")) == 1


async def test_a_removed_cron_stops_and_leaves_nothing(scheduled: Scheduled, clock: Clock) -> None:
    await scheduled.push(every(HOUR, "jobs:act", '{ name: "tick", until: "removed" }'))
    await scheduled.ran("tick")
    await scheduled.push()
    await scheduled.go_on("removed")
    await scheduled.has_acted()
    clock.jump(HOUR)
    await asyncio.sleep(0.3)
    assert len(await scheduled.seen("tick")) == 1
    assert [scheduled.rows(table) for table in ("_cron_jobs", "_cron_next_run", "_cron_job_logs")] == [[], [], []]


async def test_a_schedule_changed_during_a_run_applies_after_it(scheduled: Scheduled, eventually: Any) -> None:
    await scheduled.push(every(3600, "jobs:act", '{ name: "tick", until: "pushed" }'))
    await scheduled.ran("tick")
    await scheduled.push(every(600, "jobs:record", '{ name: "tock" }'))
    assert logs(scheduled) == []
    await scheduled.go_on("pushed")
    [entry] = await logged(scheduled, eventually)
    assert entry["udfPath"] == "jobs.js:act"
    assert scheduled.rows("_cron_next_run")[0]["nextTs"] == entry["ts"] + 600 * SECOND


async def test_a_cron_action_that_never_ends_does_not_keep_others_from_running(scheduled: Scheduled) -> None:
    never = 'crons.interval("never", { seconds: 1 }, f("jobs:never"), { name: "never" });'
    await scheduled.push(never + every(1))
    await scheduled.ran("tick", 3)
    assert len(await scheduled.seen("never")) == 1


async def test_nothing_runs_while_the_deployment_is_paused(scheduled: Scheduled, clock: Clock, eventually: Any) -> None:
    await scheduled.push(every(HOUR))
    await logged(scheduled, eventually)
    scheduled.pause()
    clock.jump(2.5 * HOUR)
    await asyncio.sleep(0.3)
    assert len(logs(scheduled)) == 1
    scheduled.pause(False)
    entries = await logged(scheduled, eventually, 3)
    assert [entry["status"]["type"] for entry in entries] == ["success", "success", "canceled"]


async def test_after_a_restart_an_overdue_cron_runs_once_and_then_normally(
    scheduled_in: Callable[[Deployment], Scheduled], tmp_path: Path, eventually: Any
) -> None:
    database = tmp_path / "data.db"
    async with Deployment.start(database=database) as deployment:
        first = scheduled_in(deployment)
        await first.push(every(HOUR))
        await first.ran("tick")
    async with Deployment.start(database=database) as deployment:
        second = scheduled_in(deployment)
        clock = await second.own_clock(ahead=2.5 * HOUR)
        began, _, skipped = await logged(second, eventually, 3)
        assert skipped["status"] == {"type": "canceled", "num_canceled": 1}
        assert len(await second.seen("tick")) == 2
        clock.jump(HOUR)
        *_, normal = await logged(second, eventually, 4)
        assert (normal["ts"], normal["status"]["type"]) == (began["ts"] + 3 * HOUR * SECOND, "success")


async def test_an_action_cut_short_by_a_stop_is_logged_as_failed_and_not_repeated(
    scheduled_in: Callable[[Deployment], Scheduled], tmp_path: Path, eventually: Any
) -> None:
    database = tmp_path / "data.db"
    async with Deployment.start(database=database) as deployment:
        first = scheduled_in(deployment)
        await first.push(every(3600, "jobs:never"))
        await first.ran("tick")
    async with Deployment.start(database=database) as deployment:
        second = scheduled_in(deployment)
        [entry] = await logged(second, eventually)
        assert entry["status"] == {"type": "err", "error": "Transient error while executing action"}
        assert second.rows("_cron_next_run")[0]["nextTs"] == entry["ts"] + 3600 * SECOND
        assert len(await second.seen("tick")) == 1


async def test_an_occurrence_that_our_own_failure_prevents_is_tried_again(
    scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    """The failure is forced, because the real ones cannot be had on demand."""
    run, failures = scheduled.deployment.runtime.run, iter([SystemFailure("disk full")])

    async def failing_once(execution: Any, bridge: Any, **options: Any) -> Any:
        failure = next(failures, None) if execution.path.function == "record" else None
        if failure is not None:
            raise failure
        return await run(execution, bridge, **options)

    monkeypatch.setattr(scheduled.deployment.runtime, "run", failing_once)
    await scheduled.push(every(3600))
    [entry] = await logged(scheduled, eventually)
    assert entry["status"]["type"] == "success"
    assert len(await scheduled.seen("tick")) == 1


async def test_the_function_log_says_that_a_cron_called(scheduled: Scheduled, eventually: Any) -> None:
    await scheduled.push(every(3600))
    await logged(scheduled, eventually)
    entries = [entry for entry in scheduled.deployment.log.after(0).entries if isinstance(entry, Completion)]
    assert [(e.identifier, e.identity_type) for e in entries if e.caller == "Cron"] == [("jobs:record", "unknown")]


async def test_a_deployment_that_redacts_still_logs_what_happened(
    scheduled_in: Callable[[Deployment], Scheduled], eventually: Any
) -> None:
    async with Deployment.start(redact=True) as deployment:
        production = scheduled_in(deployment)
        await production.push(every(3600, "jobs:act", '{ name: "tick", fails: true }'))
        [entry] = await logged(production, eventually)
        assert entry["logLines"]["logLines"] == ["[LOG] 'acting' 'tick'"]
        assert entry["status"]["error"].startswith("Uncaught Error: action failure")


def run(due: int, name: str = "x") -> CronRun:
    return CronRun(RowKey("", "next"), "job", name, "m.js:f", b"[{}]", HOURLY, due, in_progress=False)


def logged_reports(*reports: Report) -> list[dict[str, Any]]:
    database = Database.open(None)
    for due, report in enumerate(reports):
        transaction = database.begin()
        cron_jobs.insert_log(transaction, run(due), report)
        database.commit(transaction)
    return [row.value for row in database.begin().system.scan("", "_cron_job_logs")]


def lines(*texts: str) -> list[LogLine]:
    return [LogLine("LOG", (text,), 1.0) for text in texts]


def test_the_oldest_entries_make_room() -> None:
    assert [entry["ts"] for entry in logged_reports(*[Report.failure("no")] * 8)] == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("null", {"type": "default", "value": "null"}),
        ("9" * 1000, {"type": "default", "value": "9" * 1000}),
        ("9" * 1001, {"type": "truncated", "truncated_log": "9" * 1000}),
    ],
)
def test_a_long_result_is_cut(result: str, shown: dict[str, str]) -> None:
    [entry] = logged_reports(Report.success(result, [], 0.5))
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
    [entry] = logged_reports(Report.success("null", lines(*given), 0.5))
    assert entry["logLines"] == {"logLines": kept, "isTruncated": is_truncated}
