"""Scheduled functions, run by a real deployment."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from convex_evals.backend.database import Database
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.environment import CanonicalUrls
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.jobs import cancel_job
from convex_evals.backend.functions.runner import FunctionRunner
from convex_evals.backend.identity import User
from convex_evals.backend.logs import Completion, FunctionLog
from convex_evals.backend.runtime import FunctionRuntime
from convex_evals.backend.scheduler import dispatcher
from convex_evals.backend.scheduler.scheduler import Retention
from convex_evals.backend.values import Value

# The types of conftest.py, which tests cannot import.
Scheduled = Any
Clock = Any

HOUR = 3600.0
HOUR_MS = HOUR * 1000

DAY = 86_400 * 1_000_000_000


async def test_a_scheduled_mutation_runs_once_and_sees_its_own_row_in_progress(scheduled: Scheduled) -> None:
    [id] = await scheduled.schedule("jobs:record", name="a")
    job = await scheduled.reaches(id, "success")
    assert await scheduled.seen("a") == [{"job": id, "state": "inProgress", "user": None}]
    assert (job["name"], job["args"]) == ("jobs.js:record", [{"name": "a"}])
    assert job["completedTime"] >= job["scheduledTime"]


async def test_the_identity_of_who_scheduled_is_not_passed_on(scheduled: Scheduled) -> None:
    ada = User({"name": "Ada", "tokenIdentifier": "x|ada"})
    args = {"path": "jobs:record", "args": {"name": "a"}}
    assert (await scheduled.deployment.mutation("jobs:schedule", args, identity=ada)).succeeded
    [seen] = await scheduled.ran("a")
    assert seen["user"] is None


async def test_a_time_in_the_past_means_now_and_is_kept_as_it_was_asked_for(scheduled: Scheduled) -> None:
    when = float(time.time_ns() // 1_000_000 - 60_000)
    id = await scheduled.mutation("jobs:scheduleAt", ms=when, name="a")
    assert (await scheduled.reaches(id, "success"))["scheduledTime"] == when


async def test_a_job_does_not_run_before_its_time(scheduled: Scheduled) -> None:
    started = time.time()
    [id] = await scheduled.schedule("jobs:record", after_ms=300.0, name="a")
    job = await scheduled.reaches(id, "success")
    assert job["completedTime"] / 1000 - started >= 0.29


async def test_jobs_due_at_once_start_in_the_order_they_were_scheduled(scheduled: Scheduled) -> None:
    names = [f"n{number}" for number in range(20)]
    await scheduled.mutation("jobs:scheduleInOrder", names=names)
    times = []
    for name in names:
        await scheduled.ran(name)
        [run] = await scheduled.query("jobs:runs", name=name)
        times.append(run["_creationTime"])
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("path", "args", "start", "end"),
    [
        ("jobs:fail", {"name": "a"}, "Uncaught Error: scheduled failure\n    at ", "\n"),
        ("jobs:act", {"name": "a", "fails": True}, "Uncaught Error: action failure\n    at ", "\n"),
        ("jobs:record", {"nope": 1.0}, "ArgumentValidationError: ", "\n"),
        (
            "jobs:look",
            {},
            'Unsupported function type. "look" in module "jobs.js" is defined as a Query.',
            "Only Mutation and Action can be scheduled.",
        ),
    ],
)
async def test_a_job_that_cannot_succeed_fails_with_the_reason(
    scheduled: Scheduled, path: str, args: dict[str, Any], start: str, end: str
) -> None:
    [id] = await scheduled.schedule(path, **args)
    job = await scheduled.reaches(id, "failed")
    assert job["state"]["error"].startswith(start)
    assert job["state"]["error"].endswith(end)
    assert "completedTime" in job


async def test_a_failed_mutation_leaves_nothing_and_is_not_tried_again(scheduled: Scheduled) -> None:
    [id] = await scheduled.schedule("jobs:fail", name="a")
    await scheduled.reaches(id, "failed")
    assert await scheduled.seen("a") == []
    assert [row["state"]["type"] for row in scheduled.rows("_scheduled_jobs")] == ["failed"]


async def test_a_function_that_is_gone_fails_its_job(scheduled: Scheduled, clock: Clock) -> None:
    await scheduled.push(other='import { mutationGeneric as m } from "convex/server"; export const f = m(() => null);')
    [id] = await scheduled.schedule("other:f", after_ms=HOUR_MS)
    await scheduled.push(other="export const f = 1;")
    clock.jump(HOUR)
    job = await scheduled.reaches(id, "failed")
    assert job["state"]["error"] == "Could not find public function for 'other:f'.\n"


async def test_the_code_in_force_at_run_time_is_used(scheduled: Scheduled, clock: Clock) -> None:
    await scheduled.push(other='import { mutationGeneric as m } from "convex/server"; export const f = m(() => null);')
    [id] = await scheduled.schedule("other:f", after_ms=HOUR_MS, name="a")
    await scheduled.push(other='export { record as f } from "./jobs";')
    clock.jump(HOUR)
    await scheduled.reaches(id, "success")
    assert len(await scheduled.seen("a")) == 1


async def test_an_action_is_in_progress_while_it_runs(scheduled: Scheduled) -> None:
    [id] = await scheduled.schedule("jobs:act", name="a", until="seen")
    await scheduled.reaches(id, "inProgress")
    seen_ms = time.time() * 1000
    await scheduled.go_on("seen")
    job = await scheduled.reaches(id, "success")
    assert await scheduled.seen("a") == [{"job": id, "state": "inProgress", "user": None}]
    assert job["completedTime"] >= seen_ms >= job["scheduledTime"]


async def test_a_canceled_job_never_runs(scheduled: Scheduled, clock: Clock) -> None:
    [id] = await scheduled.schedule("jobs:record", after_ms=HOUR_MS, name="a")
    await scheduled.cancel(id)
    assert (await scheduled.job(id))["state"] == {"kind": "canceled"}
    clock.jump(HOUR)
    await asyncio.sleep(0.3)
    assert await scheduled.seen("a") == []


async def test_what_a_canceled_action_schedules_is_canceled_from_the_start(
    scheduled: Scheduled, eventually: Any
) -> None:
    [id] = await scheduled.schedule("jobs:act", name="a", until="canceled", then="late")
    await scheduled.reaches(id, "inProgress")
    await scheduled.cancel(id)
    await scheduled.go_on("canceled")

    async def has_scheduled() -> bool:
        return len(await scheduled.query("jobs:jobs")) == 3

    await eventually(has_scheduled)
    await asyncio.sleep(0.1)
    assert {job["state"]["kind"] for job in await scheduled.query("jobs:jobs")} == {"canceled"}
    assert await scheduled.seen("late") == []


async def test_a_scheduled_mutation_that_cancels_itself_succeeds(scheduled: Scheduled) -> None:
    [id] = await scheduled.schedule("jobs:cancelsItself", name="a")
    await scheduled.reaches(id, "success")
    assert len(await scheduled.seen("a")) == 1


async def test_a_running_job_whose_row_is_deleted_leaves_no_row(scheduled: Scheduled) -> None:
    [id] = await scheduled.schedule("jobs:act", name="a", until="deleted")
    await scheduled.reaches(id, "inProgress")
    scheduled.write(lambda transaction: transaction.system.delete("", "_scheduled_jobs", id))
    await scheduled.go_on("deleted")
    await scheduled.has_acted()
    await asyncio.sleep(0.1)
    assert scheduled.rows("_scheduled_jobs") == []


async def test_two_hundred_jobs_due_at_once_all_run_once(scheduled: Scheduled, eventually: Any) -> None:
    await scheduled.schedule("jobs:record", times=200, name="a")
    await scheduled.ran("a", 200)
    assert len({seen["job"] for seen in await scheduled.seen("a")}) == 200
    assert {job["state"]["kind"] for job in await scheduled.query("jobs:jobs")} == {"success"}


async def test_jobs_that_fight_for_a_document_all_win_in_the_end(scheduled: Scheduled, eventually: Any) -> None:
    await scheduled.schedule("jobs:count", times=40)

    async def all_counted() -> bool:
        return bool(await scheduled.query("jobs:counted") == 40)

    await eventually(all_counted)
    assert {job["state"]["kind"] for job in await scheduled.query("jobs:jobs")} == {"success"}


async def test_a_chain_of_jobs_runs_to_its_end(scheduled: Scheduled) -> None:
    await scheduled.schedule("jobs:chain", name="a", left=30.0)
    assert await scheduled.ran("a", 31) == [float(left) for left in range(30, -1, -1)]


async def test_actions_that_never_end_do_not_keep_others_from_running(scheduled: Scheduled) -> None:
    await scheduled.schedule("jobs:never", times=3, name="never")
    await scheduled.ran("never", 3)
    await scheduled.schedule("jobs:record", times=20, name="a")
    await scheduled.ran("a", 20)


async def test_no_more_than_eight_jobs_run_at_the_same_time(scheduled: Scheduled) -> None:
    await scheduled.schedule("jobs:act", times=10, name="a", until="counted")
    await scheduled.ran("a", 8)
    states = [job["state"]["kind"] for job in await scheduled.query("jobs:jobs")]
    assert sorted(states) == ["inProgress"] * 8 + ["pending"] * 2
    await scheduled.go_on("counted")
    await scheduled.ran("a", 10)


async def test_nothing_runs_while_the_deployment_is_paused(scheduled: Scheduled, clock: Clock) -> None:
    [id] = await scheduled.schedule("jobs:record", after_ms=HOUR_MS, name="a")
    scheduled.pause()
    clock.jump(HOUR)
    await asyncio.sleep(0.3)
    assert [row["state"]["type"] for row in scheduled.rows("_scheduled_jobs")] == ["pending"]
    scheduled.pause(False)
    await scheduled.reaches(id, "success")


async def test_a_clock_that_jumps_forward_makes_jobs_due(scheduled: Scheduled, clock: Clock) -> None:
    [id] = await scheduled.schedule("jobs:record", after_ms=HOUR_MS, name="a")
    await asyncio.sleep(0.05)
    assert (await scheduled.job(id))["state"] == {"kind": "pending"}
    clock.jump(HOUR, notice=False)
    await scheduled.reaches(id, "success")


async def test_overdue_and_pending_jobs_survive_a_restart(
    app_deployment: Any, scheduled_in: Any, tmp_path: Path
) -> None:
    database = tmp_path / "data.db"
    async with app_deployment(database=database) as deployment:
        first = scheduled_in(deployment)
        await deployment.scheduler.stop()
        await first.schedule("jobs:record", name="overdue")
        await first.schedule("jobs:record", after_ms=HOUR_MS, name="pending")
    async with Deployment.start(database=database) as deployment:
        second = scheduled_in(deployment)
        assert len(await second.ran("overdue")) == 1
        assert await second.seen("pending") == []
        await second.own_clock(ahead=HOUR)
        await second.ran("pending")


async def test_an_action_cut_short_by_a_stop_has_failed_and_does_not_run_again(
    app_deployment: Any, scheduled_in: Any, tmp_path: Path
) -> None:
    database = tmp_path / "data.db"
    async with app_deployment(database=database) as deployment:
        first = scheduled_in(deployment)
        [id] = await first.schedule("jobs:never", name="a")
        await first.ran("a")
    async with Deployment.start(database=database) as deployment:
        second = scheduled_in(deployment)
        job = await second.reaches(id, "failed")
        assert job["state"]["error"] == "Transient error while executing action"
        assert len(await second.seen("a")) == 1
        [entry] = [entry for entry in deployment.log.after(0).entries if isinstance(entry, Completion) and entry.error]
        assert (entry.identifier, entry.caller, entry.udf_type) == ("jobs:never", "Scheduler", "Action")


async def test_a_chain_continues_after_a_restart_in_its_middle(
    app_deployment: Any, scheduled_in: Any, tmp_path: Path
) -> None:
    database, length = tmp_path / "data.db", 60
    async with app_deployment(database=database) as deployment:
        first = scheduled_in(deployment)
        await first.schedule("jobs:chain", name="a", left=float(length))
        await first.ran("a", 5)
    async with Deployment.start(database=database) as deployment:
        links = await scheduled_in(deployment).ran("a", length + 1)
        assert links == [float(left) for left in range(length, -1, -1)]


async def test_a_job_that_our_own_failure_prevents_is_tried_again_later(
    scheduled: Scheduled, clock: Clock, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    """The failure is forced, because the real ones (a full disk, no memory for a worker) cannot be had on demand."""
    monkeypatch.setattr("convex_evals.backend.scheduler.scheduler.FIRST_BACKOFF_SECONDS", HOUR)
    run, failures = scheduled.deployment.runtime.run, iter([SystemFailure("disk full")])

    async def failing_once(execution: Any, bridge: Any, **options: Any) -> Any:
        failure = next(failures, None) if execution.path.function == "record" else None
        if failure is not None:
            raise failure
        return await run(execution, bridge, **options)

    monkeypatch.setattr(scheduled.deployment.runtime, "run", failing_once)
    [id] = await scheduled.schedule("jobs:record", name="a")

    async def postponed() -> bool:
        return bool(scheduled.rows("_scheduled_jobs")[0]["attempts"]["systemErrors"] == 1)

    await eventually(postponed)
    assert (await scheduled.job(id))["state"] == {"kind": "pending"}
    clock.jump(HOUR)
    await scheduled.reaches(id, "success")
    assert len(await scheduled.seen("a")) == 1


async def test_the_function_log_says_that_the_scheduler_called(scheduled: Scheduled) -> None:
    [id] = await scheduled.schedule("jobs:act", name="a")
    await scheduled.reaches(id, "success")
    entries = [entry for entry in scheduled.deployment.log.after(0).entries if isinstance(entry, Completion)]
    callers = [(entry.identifier, entry.caller) for entry in entries if entry.caller in ("Scheduler", "Action")]
    assert callers == [("jobs:record", "Action"), ("jobs:act", "Scheduler")]


async def test_a_job_canceled_while_its_mutation_runs_does_not_happen(
    scheduled: Scheduled, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, canceled = scheduled.deployment.runtime.run, asyncio.Event()

    async def cancelling(execution: Any, bridge: Any, **options: Any) -> Any:
        outcome = await run(execution, bridge, **options)
        if execution.path.function == "record" and not canceled.is_set():
            canceled.set()
            scheduled.write(lambda transaction: cancel_job(transaction, "", ids[0]))
        return outcome

    monkeypatch.setattr(scheduled.deployment.runtime, "run", cancelling)
    ids = await scheduled.schedule("jobs:record", after_ms=HOUR_MS, name="a")
    clock.jump(HOUR)
    await canceled.wait()
    await asyncio.sleep(0.3)
    assert (await scheduled.job(ids[0]))["state"] == {"kind": "canceled"}
    assert await scheduled.seen("a") == []


@pytest.fixture
def functions() -> FunctionRunner:
    urls = CanonicalUrls("http://127.0.0.1:1", "http://127.0.0.1:2")
    return FunctionRunner(Host(Database.open(None), FunctionRuntime(), FunctionLog(), "local", urls))


@pytest.mark.parametrize(
    ("state", "completed_days_ago", "kept"),
    [
        ("success", 6.99, True),
        ("success", 7.01, False),
        ("failed", 8, False),
        ("canceled", 8, False),
        ("pending", None, True),
    ],
)
async def test_finished_jobs_are_kept_for_seven_days(
    functions: FunctionRunner, state: str, completed_days_ago: float | None, kept: bool
) -> None:
    now, database = time.time_ns(), functions.host.database
    completed = None if completed_days_ago is None else now - int(completed_days_ago * DAY)
    row: dict[str, Value] = {"state": {"type": state}, "completedTs": completed, "nextTs": None}
    transaction = database.begin()
    transaction.system.insert("", "_scheduled_jobs", row)
    database.commit(transaction)
    await Retention(functions, lambda: now).collect()
    assert bool(database.begin().system.scan("", "_scheduled_jobs")) == kept


async def test_an_administrator_comes_after_the_mutations_that_were_due_before(scheduled: Scheduled) -> None:
    for n in range(20):
        await scheduled.schedule("jobs:record", name=f"run {n}")
        assert len(await scheduled.seen(f"run {n}")) == 1


async def test_an_administrator_does_not_wait_for_a_scheduled_action(
    scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "SETTLE_SECONDS", HOUR)
    await scheduled.schedule("jobs:never", name="a")
    await scheduled.ran("a")
