"""Crons. Each check pushes its own `crons.ts`."""

import asyncio
import time

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

JOBS = """
import { internalMutation, internalAction, internalQuery, query } from "./_generated/server";
import { internal } from "./_generated/api";
export const tick = internalMutation({ handler: async (ctx, args: { name?: string }) => {
  await ctx.db.insert("ticks" as never, { name: args.name ?? "tick", at: Date.now() } as never); } });
export const fail = internalMutation({ handler: async (ctx) => { throw new Error("cron failure"); } });
export const tickThenFail = internalAction({ handler: async (ctx) => {
  await ctx.runMutation(internal.jobs.tick, {}); throw new Error("cron failure"); } });
export const slow = internalAction({ handler: async (ctx): Promise<void> => {
  await ctx.runMutation(internal.jobs.tick, { name: "start" });
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await ctx.runMutation(internal.jobs.tick, { name: "end" }); } });
export const look = internalQuery({ handler: async () => null });
export const ticks = query({ handler: async (ctx) => await ctx.db.query("ticks" as never).collect() as any[] });
"""
EVERY_SECOND = 'crons.interval("x", { seconds: 1 }, internal.jobs.tick, {});'


def _project(crons: str) -> dict[str, str]:
    file = (
        'import { cronJobs } from "convex/server";\nimport { internal } from "./_generated/api";\n'
        f"const crons = cronJobs();\n{crons}\nexport default crons;\n"
    )
    return {"convex/jobs.ts": JOBS, "convex/crons.ts": file}


async def _pushed(t: Target, crons: str) -> None:
    pushed = await t.push_only(_project(crons))
    expect.true(pushed.ok, pushed.output)


async def _refused(t: Target, files: dict[str, str]) -> str:
    pushed = await t.push_only(files)
    expect.true(not pushed.ok, "the push was accepted")
    return pushed.output


async def _ticks(t: Target, name: str = "tick") -> list[float]:
    return [one["at"] for one in await t.query("jobs:ticks") if one["name"] == name]


async def _has_ticked(t: Target, times: int, name: str = "tick") -> None:
    async def there() -> bool:
        return len(await _ticks(t, name)) >= times

    await expect.eventually(there, f"{times} runs")


def _expect_seconds_between(ticks: list[float]) -> None:
    """One run may be late on a busy machine and the next one not; but the one after that is a second away from it."""
    gaps = [later - earlier for earlier, later in zip(ticks, ticks[2:], strict=False)]
    expect.true(all(gap > 900 for gap in gaps), f"gaps of {gaps} ms between every other run")


@check(273, "An interval runs right after the push and then again and again", p1=True, owns_deployment=True)
async def interval(t: Target) -> None:
    hourly = 'crons.interval("y", { hours: 1 }, internal.jobs.tick, { name: "hourly" });'
    await _pushed(t, EVERY_SECOND + hourly)
    await _has_ticked(t, 1, "hourly")
    await _has_ticked(t, 3)
    _expect_seconds_between(await _ticks(t))
    expect.equal(len(await _ticks(t, "hourly")), 1)


@check(274, "The other schedules are accepted and do not run at push time", owns_deployment=True)
async def other_schedules(t: Target) -> None:
    await _pushed(
        t,
        """
        const soon = (new Date().getUTCMinutes() + 30) % 60;
        crons.hourly("h", { minuteUTC: soon }, internal.jobs.tick, {});
        crons.daily("d", { hourUTC: (new Date().getUTCHours() + 12) % 24, minuteUTC: 0 }, internal.jobs.tick, {});
        crons.weekly("w", { dayOfWeek: "monday", hourUTC: (new Date().getUTCHours() + 12) % 24, minuteUTC: 0 },
          internal.jobs.tick, {});
        crons.monthly("m", { day: 1, hourUTC: (new Date().getUTCHours() + 12) % 24, minuteUTC: 0 },
          internal.jobs.tick, {});
        crons.cron("c", "0 0 1 1 *", internal.jobs.tick, {});
        """,
    )
    await asyncio.sleep(0.5)
    expect.equal(await _ticks(t), [])
    listed = await t.system("frontend/listCronJobs", {})
    expect.equal(sorted(job["name"] for job in listed), ["c", "d", "h", "m", "w"])


@check(275, "`* * * * *` is due at the next minute (plus at most 59 s)", owns_deployment=True)
async def every_minute(t: Target) -> None:
    await _pushed(t, 'crons.cron("c", "* * * * *", internal.jobs.tick, {});')
    (job,) = await t.system("frontend/listCronJobs", {})
    wait = job["nextRun"]["nextTs"] / 1e9 - time.time()
    expect.true(-1 < wait <= 120, f"the next run is {wait:.0f} s away")


@check(276, "Deploying again without a change causes no extra run", owns_deployment=True)
async def unchanged_redeploy(t: Target) -> None:
    hourly = 'crons.interval("x", { hours: 1 }, internal.jobs.tick, {});'
    await _pushed(t, hourly)
    await _has_ticked(t, 1)
    await _pushed(t, hourly)
    await asyncio.sleep(0.5)
    expect.equal(len(await _ticks(t)), 1)


@check(277, "A removed cron stops", owns_deployment=True)
async def removed(t: Target) -> None:
    await _pushed(t, EVERY_SECOND)
    await _pushed(t, "")
    count = len(await _ticks(t))
    await asyncio.sleep(1.6)
    expect.equal(len(await _ticks(t)), count)


@check(278, "A cron of a missing function fails the push", owns_deployment=True)
async def missing_function(t: Target) -> None:
    output = await _refused(t, _project('crons.interval("x", { seconds: 1 }, "jobs:nope" as never, {});'))
    expect.contains(output, "The cron job 'x' schedules a function that does not exist: jobs.js:nope")


@check(279, "A cron of a query fails the push", owns_deployment=True)
async def cron_of_query(t: Target) -> None:
    output = await _refused(t, _project('crons.interval("x", { seconds: 1 }, internal.jobs.look as never, {});'))
    expect.contains(
        output,
        "The cron job 'x' schedules a query function, only actions and mutations can be scheduled: jobs.js:look",
    )


@check(280, "crons.ts needs a default export", owns_deployment=True)
async def no_default_export(t: Target) -> None:
    output = await _refused(t, {"convex/jobs.ts": JOBS, "convex/crons.ts": "export const crons = 1;\n"})
    expect.contains(output, "`convex/crons.js` must have a default export of a Crons object.")


@check(281, "An identifier cannot be used twice", owns_deployment=True)
async def twice(t: Target) -> None:
    output = await _refused(t, _project(EVERY_SECOND * 2))
    expect.contains(output, "Cron identifier registered twice: x")


@check(282, "A failing run does not stop later runs", owns_deployment=True)
async def failing_run(t: Target) -> None:
    await _pushed(t, 'crons.interval("x", { seconds: 1 }, internal.jobs.tickThenFail, {});')
    await _has_ticked(t, 2)


@check(283, "A run longer than the interval never overlaps the next one", owns_deployment=True)
async def long_run(t: Target) -> None:
    await _pushed(t, 'crons.interval("x", { seconds: 1 }, internal.jobs.slow, {});')
    await _has_ticked(t, 2, "start")
    starts, ends = await _ticks(t, "start"), await _ticks(t, "end")
    expect.true(starts[1] >= ends[0], f"started at {starts}, ended at {ends}")


@check(284, "Day of week 7 is refused and 0 is Sunday", owns_deployment=True)
async def day_of_week(t: Target) -> None:
    await _refused(t, _project('crons.cron("c", "0 0 * * 7", internal.jobs.tick, {});'))
    await _pushed(t, 'crons.cron("c", "0 0 * * 0", internal.jobs.tick, {});')
    (job,) = await t.system("frontend/listCronJobs", {})
    expect.equal(time.gmtime(job["nextRun"]["nextTs"] / 1e9).tm_wday, 6)


@check(
    285, "After a pause of many intervals a cron runs once and then normally", owns_deployment=True, embedded_only=True
)
async def after_pause(t: Target) -> None:
    await _pushed(t, EVERY_SECOND)
    await _has_ticked(t, 1)
    await t.restart(pause=3.2)
    before = len(await _ticks(t))
    await _has_ticked(t, before + 3)
    _expect_seconds_between(await _ticks(t))
