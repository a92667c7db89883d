from typing import Any

import pytest

from convex_evals.backend.functions.calls import ScheduledJob

World = Any
Context = Any

FIVE_YEARS = 5 * 366 * 86_400


@pytest.fixture
def app(world: World) -> World:
    @world.mutation("messages:destruct", visibility="internal")
    async def destruct(ctx: Context, args: dict[str, Any]) -> None:
        return None

    @world.mutation("jobs:cancel")
    async def cancel_job(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("cancel_job", **args)

    @world.query("jobs:list")
    async def listed(ctx: Context, args: dict[str, Any]) -> object:
        return await ctx.collect("_scheduled_functions")

    return world


async def schedule(world: World, after: float = 0.0, count: int = 1, **args: Any) -> Any:
    async def handler(ctx: Context, _: dict[str, Any]) -> object:
        given = {"name": "messages:destruct", "args": {"n": 1}, "ts": ctx.execution.now_ms / 1000 + after} | args
        jobs = [await ctx.call("schedule", **given) for _ in range(count)]
        return jobs[0]

    world.mutation("jobs:plan")(handler)
    return await world.runner.mutation(world.call("jobs:plan"))


def states(world: World) -> list[str]:
    return [row.value["state"]["type"] for row in world.database.begin().system.scan("", "_scheduled_jobs")]


async def test_a_job_is_a_row_that_can_be_read_at_once(app: World) -> None:
    outcome = await schedule(app, after=60)
    [row] = app.database.begin().system.scan("", "_scheduled_jobs")
    assert outcome.value == f'"{row.id}"'
    assert row.value["udfPath"] == "messages.js:destruct"
    assert row.value["udfArgs"] == b'[{"n":1.0}]'
    assert row.value["nextTs"] == row.value["originalScheduledTs"]
    seen = (await app.runner.query(app.call("jobs:list"))).value
    assert '"name":"messages.js:destruct"' in seen
    assert '"args":[{"n":1.0}]' in seen
    assert '"state":{"kind":"pending"}' in seen


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"after": FIVE_YEARS + 1000}, "s) is more than 5 years in the future"),
        ({"after": -FIVE_YEARS - 1000}, "s) is more than 5 years in the past"),
        ({"ts": -1.0}, "Invalid arguments for `ts`: "),
        ({"name": "nope:fn"}, "Attempted to schedule function at nonexistent path: nope.js"),
        (
            {"name": "messages:nope"},
            "Attempted to schedule function, but no exported function nope found in the file: messages.js. Did you "
            "forget to export it?",
        ),
        ({"args": {"at": {"$commitTs": None}}}, "Field name $commitTs starts with '$', which is reserved."),
        ({"count": 1001}, "Too many functions scheduled by this mutation (limit: 1000)"),
        (
            {"count": 5, "args": {"blob": "x" * (4 * 2**20)}},
            "Too large total size of the arguments of scheduled functions from this mutation (limit: 16777216 bytes)",
        ),
    ],
)
async def test_what_cannot_be_scheduled_says_why(app: World, args: dict[str, Any], message: str) -> None:
    assert message in (await schedule(app, **args)).failure.message
    assert states(app) == []


async def test_large_arguments_of_a_job_are_warned_about(app: World) -> None:
    outcome = await schedule(app, args={"blob": "x" * (5 * 2**20)})
    assert outcome.log_texts == [
        "[WARN] Large arguments for a single scheduled function from this mutation "
        "(actual: 5242891 bytes, limit: 4194304 bytes)."
    ]


async def test_a_pending_job_can_be_cancelled_and_then_stays_as_it_is(app: World) -> None:
    job = (await schedule(app)).value.strip('"')
    for _ in range(2):
        assert (await app.runner.mutation(app.call("jobs:cancel", {"id": job}))).succeeded
    [row] = app.database.begin().system.scan("", "_scheduled_jobs")
    assert (row.value["state"], row.value["nextTs"]) == ({"type": "canceled"}, None)
    assert row.value["completedTs"] is not None


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("abc", "Invalid argument `id` for `db.cancel_job`: Unable to decode ID: Invalid ID length 3"),
        (
            "j57000820c20a1g7104gm2rc1m70ynr8",
            "Invalid scheduled function ID. The ID must be an ID on the '_scheduled_functions' table.",
        ),
    ],
)
async def test_only_jobs_can_be_cancelled(app: World, job: str, message: str) -> None:
    assert message in (await app.runner.mutation(app.call("jobs:cancel", {"id": job}))).failure.message


async def test_cancelling_a_job_that_is_gone_does_nothing(app: World) -> None:
    assert (await app.runner.mutation(app.call("jobs:cancel", {"id": "kc2000820c20a1g7104gm2rc1m70y5yj"}))).succeeded


async def test_a_scheduled_mutation_that_cancels_itself_is_warned(app: World) -> None:
    job = (await schedule(app)).value.strip('"')
    running = {"scheduled_job": ScheduledJob(job), "caller": "Scheduler"}
    outcome = await app.runner.mutation(app.call("jobs:cancel", {"id": job, "version": "1.44.0"}, **running))
    assert outcome.log_texts == [
        "[WARN] A scheduled mutation canceling itself is deprecated and will throw an error in a future version of "
        "Convex."
    ]
    assert states(app) == ["pending"]
    refused = await app.runner.mutation(app.call("jobs:cancel", {"id": job, "version": "1.50.0"}, **running))
    assert "A mutation cannot cancel itself" in refused.failure.message


async def test_what_a_cancelled_job_schedules_is_cancelled_from_the_start(app: World) -> None:
    job = (await schedule(app)).value.strip('"')
    await app.runner.mutation(app.call("jobs:cancel", {"id": job}))

    @app.mutation("jobs:more")
    async def more(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("schedule", name="messages:destruct", ts=ctx.execution.now_ms / 1000, args={})

    await app.runner.mutation(app.call("jobs:more", scheduled_job=ScheduledJob(job)))
    assert states(app) == ["canceled", "canceled"]
