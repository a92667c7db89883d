"""The scheduler."""

import asyncio
import time
import uuid
from typing import Any

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target


def _name() -> str:
    return uuid.uuid4().hex


async def _runs(t: Target, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await t.query("scheduling:runs", {"name": name})
    return found


async def _ran(t: Target, name: str) -> dict[str, Any]:
    async def there() -> bool:
        return bool(await _runs(t, name))

    await expect.eventually(there, f"the job {name} runs")
    return (await _runs(t, name))[0]


async def _job(t: Target, identifier: str) -> dict[str, Any]:
    found: dict[str, Any] = await t.query("scheduling:job", {"id": identifier})
    return found


async def _reaches(t: Target, identifier: str, state: str) -> dict[str, Any]:
    async def there() -> bool:
        return bool((await _job(t, identifier))["state"]["kind"] == state)

    await expect.eventually(there, f"the job becomes {state}")
    return await _job(t, identifier)


@check(248, "runAfter(0) runs after the mutation committed; its id is a `_scheduled_functions` id", p1=True)
async def run_after(t: Target) -> None:
    name = _name()
    identifier = await t.mutation("scheduling:later", {"name": name, "ms": 0.0})
    await _ran(t, name)
    expect.equal((await _job(t, identifier))["_id"], identifier)


@check(249, "A mutation that throws after scheduling schedules nothing", p1=True)
async def schedule_then_throw(t: Target) -> None:
    name = _name()
    await expect.failure(t.mutation("scheduling:scheduleThenThrow", {"name": name}))
    await asyncio.sleep(0.2)
    expect.equal(await _runs(t, name), [])


@check(250, "A job scheduled by an action runs although the action throws", p1=True)
async def action_schedule_then_throw(t: Target) -> None:
    name = _name()
    await expect.failure(t.action("scheduling:actionScheduleThenThrow", {"name": name}))
    await _ran(t, name)


@check(251, "runAfter(2000) does not run earlier than two seconds", p1=True)
async def not_early(t: Target) -> None:
    name, start = _name(), time.time()
    await t.mutation("scheduling:later", {"name": name, "ms": 2000.0})
    run = await _ran(t, name)
    expect.true(run["at"] / 1000 - start >= 1.99, f"ran after {run['at'] / 1000 - start:.3f} s")


@check(252, "runAt in the past runs at once and keeps the requested time")
async def run_at_past(t: Target) -> None:
    name, when = _name(), float(int(time.time() * 1000) - 60_000)
    identifier = await t.mutation("scheduling:at", {"name": name, "time": when})
    await _ran(t, name)
    expect.equal((await _job(t, identifier))["scheduledTime"], when)


@check(253, "Jobs of one mutation due at once start in call order")
async def call_order(t: Target) -> None:
    name = _name()
    await t.mutation("scheduling:three", {"name": name})
    times = [(await _ran(t, f"{name}{suffix}"))["_creationTime"] for suffix in "123"]
    expect.equal(times, sorted(times))


@check(254, "A job goes from pending to success with completedTime, name and args", p1=True)
async def states(t: Target) -> None:
    name = _name()
    identifier = await t.mutation("scheduling:later", {"name": name, "ms": 2000.0})
    pending = await _job(t, identifier)
    expect.equal((pending["state"], pending.get("completedTime")), ({"kind": "pending"}, None))
    expect.equal((pending["name"], pending["args"]), ("scheduling.js:record", [{"name": name}]))
    done = await _reaches(t, identifier, "success")
    expect.true(done["completedTime"] >= done["scheduledTime"], f"found {done}")


@check(255, "A failing mutation's job is failed with its error and not retried")
async def failing_job(t: Target) -> None:
    identifier = await t.mutation("scheduling:scheduleFailing", {"name": _name()})
    job = await _reaches(t, identifier, "failed")
    expect.starts(job["state"]["error"], "Uncaught Error: scheduled failure")


@check(256, "A scheduled mutation sees its own job in progress")
async def own_job(t: Target) -> None:
    name = _name()
    await t.mutation("scheduling:scheduleObserver", {"name": name})
    expect.equal((await _ran(t, name))["state"], "inProgress")


@check(257, "A running scheduled action's job is in progress")
async def action_in_progress(t: Target) -> None:
    identifier = await t.mutation("scheduling:scheduleSlowAction", {"name": _name(), "ms": 2000.0})
    await _reaches(t, identifier, "inProgress")
    await _reaches(t, identifier, "success")


@check(258, "A canceled job never runs", p1=True)
async def cancel(t: Target) -> None:
    name = _name()
    identifier = await t.mutation("scheduling:later", {"name": name, "ms": 2000.0})
    await t.mutation("scheduling:cancel", {"id": identifier})
    expect.equal((await _job(t, identifier))["state"], {"kind": "canceled"})
    await asyncio.sleep(2.2)
    expect.equal(await _runs(t, name), [])


@check(259, "Canceling a finished job does nothing")
async def cancel_finished(t: Target) -> None:
    identifier = await t.mutation("scheduling:later", {"name": _name(), "ms": 0.0})
    await _reaches(t, identifier, "success")
    await t.mutation("scheduling:cancel", {"id": identifier})
    expect.equal((await _job(t, identifier))["state"], {"kind": "success"})


@check(260, "A running action that is canceled stays canceled, and so is what it schedules afterwards")
async def cancel_running_action(t: Target) -> None:
    name = _name()
    args = {"name": name, "ms": 2000.0, "schedulesAfter": True}
    identifier = await t.mutation("scheduling:scheduleSlowAction", args)
    await _reaches(t, identifier, "inProgress")
    await t.mutation("scheduling:cancel", {"id": identifier})
    await asyncio.sleep(2.5)
    expect.equal((await _job(t, identifier))["state"], {"kind": "canceled"})
    expect.equal(await _runs(t, f"{name} late"), [])


@check(261, "An id that cannot be decoded cannot be canceled")
async def cancel_garbage(t: Target) -> None:
    failure = await expect.failure(t.mutation("scheduling:cancel", {"id": "garbage"}))
    expect.starts(failure.plain, "Invalid argument `id` for `db.cancel_job`: Unable to decode ID: ")


@check(262, "Scheduling a missing export is refused")
async def missing_export(t: Target) -> None:
    failure = await expect.failure(t.mutation("scheduling:scheduleMissing", {"target": "scheduling:foo"}))
    expect.equal(
        failure.plain,
        "Attempted to schedule function, but no exported function foo found in the file: scheduling.js. "
        "Did you forget to export it?",
    )


@check(263, "Scheduling a missing module is refused")
async def missing_module(t: Target) -> None:
    failure = await expect.failure(t.mutation("scheduling:scheduleMissing", {"target": "nowhere:foo"}))
    expect.equal(failure.plain, "Attempted to schedule function at nonexistent path: nowhere.js")


@check(264, "Negative, infinite and undefined delays are refused")
async def bad_delays(t: Target) -> None:
    negative = await expect.failure(t.mutation("scheduling:scheduleBadDelay", {"ms": -1.0}))
    expect.contains(negative.plain, "`delayMs` must be non-negative")
    for ms in (float("inf"), float("nan")):
        infinite = await expect.failure(t.mutation("scheduling:scheduleBadDelay", {"ms": ms}))
        expect.contains(infinite.plain, "`delayMs` must be a finite number")


@check(265, "More than five years ahead is refused")
async def too_far(t: Target) -> None:
    when = float(int((time.time() + 6 * 366 * 86_400) * 1000))
    failure = await expect.failure(t.mutation("scheduling:at", {"name": _name(), "time": when}))
    expect.true(failure.plain.endswith("is more than 5 years in the future"), failure.plain)


@check(266, "Invalid arguments are accepted when scheduling; the job then fails")
async def bad_arguments(t: Target) -> None:
    identifier = await t.mutation("scheduling:scheduleBadArgs")
    job = await _reaches(t, identifier, "failed")
    expect.contains(job["state"]["error"], "ArgumentValidationError")


@check(267, "A scheduled query fails")
async def scheduled_query(t: Target) -> None:
    identifier = await t.mutation("scheduling:scheduleQuery")
    job = await _reaches(t, identifier, "failed")
    expect.starts(job["state"]["error"], "Unsupported function type.")


@check(
    268, "Pending jobs survive a restart; overdue ones run at start", p1=True, owns_deployment=True, embedded_only=True
)
async def survives_restart(t: Target) -> None:
    await t.push()
    overdue, pending = _name(), _name()
    await t.mutation("scheduling:later", {"name": overdue, "ms": 300.0})
    await t.mutation("scheduling:later", {"name": pending, "ms": 1500.0})
    await t.restart(pause=0.5)
    await _ran(t, overdue)
    await _ran(t, pending)


@check(
    269,
    "An action that was running at a crash is failed after the restart and not run again",
    owns_deployment=True,
    embedded_only=True,
)
async def crashed_action(t: Target) -> None:
    await t.push()
    name = _name()
    identifier = await t.mutation("scheduling:scheduleSlowAction", {"name": name, "ms": 20_000.0})
    await _ran(t, name)
    await t.restart()
    job = await _reaches(t, identifier, "failed")
    expect.equal(job["state"]["error"], "Transient error while executing action")
    expect.equal(len(await _runs(t, name)), 1)


@check(270, "`_scheduled_functions` is reactive and paginates")
async def reactive_jobs(t: Target) -> None:
    async with t.sync() as client:
        options = {"numItems": 1.0, "cursor": None}
        (newest,) = await client.subscribe(("scheduling:newestJobs", {"paginationOpts": options}))
        identifier = await t.mutation("scheduling:later", {"name": _name(), "ms": 100_000.0})
        await client.until(lambda: identifier in [job["_id"] for job in newest.latest["page"]])
    await t.mutation("scheduling:cancel", {"id": identifier})


@check(271, "A job scheduled in a nested mutation that is rolled back does not run")
async def nested_rollback(t: Target) -> None:
    name = _name()
    await t.mutation("scheduling:catchesInnerSchedule", {"name": name})
    await asyncio.sleep(0.2)
    expect.equal(await _runs(t, name), [])


@check(272, "getRequestMetadata().scheduledFunctionId is the job's id")
async def own_id(t: Target) -> None:
    name = _name()
    identifier = await t.mutation("scheduling:later", {"name": name, "ms": 0.0})
    expect.equal((await _ran(t, name))["job"], identifier)
