import asyncio
from typing import Any

import pytest

from convex_evals.backend.functions.calls import ScheduledJob
from convex_evals.backend.identity import ADMIN, Anonymous, Identity, User

World = Any
Context = Any

ADA = User({"subject": "ada", "tokenIdentifier": "x|ada"}, token="jwt")


@pytest.fixture
def app(world: World) -> World:
    @world.mutation("messages:add", visibility="internal")
    async def add(ctx: Context, args: dict[str, Any]) -> None:
        ctx.log("adding")
        await ctx.call("insert", table="messages", value=args)

    @world.query("messages:list")
    async def listed(ctx: Context, args: dict[str, Any]) -> object:
        return [row["body"] for row in await ctx.collect("messages")]

    async def whoami(ctx: Context, args: dict[str, Any]) -> object:
        identity = await ctx.call("getUserIdentity")
        return identity and identity["subject"]

    world.query("users:whoami")(whoami)
    world.query("users:whoami", component="counter")(whoami)
    return world


async def act(world: World, handler: Any, **options: Any) -> Any:
    world.action("test:run")(handler)
    return await world.runner.action(world.call("test:run", **options))


async def test_every_call_of_an_action_is_a_transaction_of_its_own(app: World, thrown: Any) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        await ctx.call("actions/mutation", name="messages:add", args={"body": "kept"})
        listed = await ctx.call("actions/query", name="messages:list", args={})
        assert listed == ["kept"]
        raise thrown("later")

    assert not (await act(app, handler)).succeeded
    assert (await app.runner.query(app.call("messages:list"))).value == '["kept"]'


async def test_calls_of_an_action_run_at_the_same_time(app: World) -> None:
    together = asyncio.Barrier(2)

    @app.action("test:wait")
    async def wait(ctx: Context, args: dict[str, Any]) -> None:
        await together.wait()

    async def handler(ctx: Context, args: dict[str, Any]) -> None:
        call = ctx.call("actions/action", name="test:wait", args={})
        await asyncio.gather(call, ctx.call("actions/action", name="test:wait", args={}))

    assert (await act(app, handler)).succeeded


async def test_a_callee_keeps_its_lines_to_itself_and_passes_its_errors_on(app: World, thrown: Any) -> None:
    @app.mutation("messages:fail")
    async def fail(ctx: Context, args: dict[str, Any]) -> None:
        raise thrown("boom", data='"data"')

    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        ctx.log("mine")
        await ctx.call("actions/mutation", name="messages:add", args={})
        try:
            await ctx.call("actions/mutation", name="messages:fail", args={})
        except thrown as error:
            return [str(error), error.data]
        return None

    outcome = await act(app, handler)
    assert outcome.value == '["Uncaught ConvexError: boom\\n    at handler (../convex/a.ts:1:1)\\n","\\"data\\""]'
    assert outcome.log_texts == ["[LOG] 'mine'"]


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("actions/query", {"name": "messages:nope"}, "Could not find public function for 'messages:nope'.\n"),
        ("actions/query", {"reference": "_reference/childComponent/nope/a/b"}, "Couldn't resolve nope.a.b"),
        ("actions/query", {}, "Invalid arguments for `runQuery`: Missing required argument 'name'"),
        ("actions/mutation", {"name": "messages:list"}, "Trying to execute messages.js:list as Mutation, but it is"),
        ("getTransactionMetrics", {}, "Unknown async operation 1.0/getTransactionMetrics"),
        ("get", {"id": "x"}, "Unknown async operation 1.0/get"),
        ("auditLog", {"body": {}}, "Audit logging is not yet supported in actions"),
        ("createServiceToken", {"service": "ai-gateway"}, '`getServiceToken("ai-gateway")` isn\'t available on this'),
        ("actions/cancel_job", {"id": "x"}, "Invalid argument `id` for `db.cancel_job`: Unable to decode ID: "),
        ("storageGetUrl", {"storageId": "x"}, "Your request couldn't be completed. Try again later."),
    ],
)
async def test_syscalls_that_fail_say_why(
    app: World, thrown: Any, name: str, args: dict[str, Any], message: str
) -> None:
    errors = []

    async def handler(ctx: Context, _: dict[str, Any]) -> None:
        try:
            await ctx.call(name, **({"args": {}} | args))
        except thrown as error:
            errors.append(str(error))

    assert (await act(app, handler)).succeeded
    assert errors[0].startswith(message)


@pytest.mark.parametrize(("identity", "app_sees", "component_sees"), [(ADA, '"ada"', "null"), (ADMIN, "null", "null")])
async def test_a_users_identity_does_not_enter_components(
    app: World, identity: Identity, app_sees: str, component_sees: str
) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        reference = "_reference/childComponent/counter/users/whoami"
        mine = await ctx.call("actions/query", name="users:whoami", args={})
        return [mine, await ctx.call("actions/query", reference=reference, args={})]

    assert (await act(app, handler, identity=identity)).value == f"[{app_sees},{component_sees}]"


async def test_a_bad_token_of_an_http_request_surfaces_when_the_identity_is_asked_for(app: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        return await ctx.call("getUserIdentity")

    outcome = await act(app, handler, identity=Anonymous("Could not decode token."))
    assert "Could not decode token." in outcome.failure.message


async def test_an_action_knows_its_request(app: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        return [
            await ctx.call("getRequestMetadata"),
            await ctx.call("getFunctionMetadata"),
            await ctx.call("getDeploymentMetadata"),
        ]

    outcome = await act(
        app,
        handler,
        identity=ADA,
        request_id="a" * 16,
        ip="127.0.0.1",
        user_agent="npm-1.44.0",
        scheduled_job=ScheduledJob("kc2"),
    )
    assert outcome.value == (
        '[{"authToken":"jwt","ip":"127.0.0.1","requestId":"aaaaaaaaaaaaaaaa","scheduledFunctionId":"kc2",'
        '"userAgent":"npm-1.44.0"},{"componentPath":"","name":"test:run"},{"class":"s16","name":"local","region":null}]'
    )


async def test_actions_have_half_an_hour_and_node_actions_ten_minutes(app: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> None:
        return None

    await act(app, handler)
    [execution] = app.runtime.executions
    assert (execution.user_seconds, execution.total_seconds) == (1800, 1800)


async def test_what_an_action_schedules_stays_scheduled_when_it_fails(app: World, thrown: Any) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        now = ctx.execution.now_ms / 1000
        job = await ctx.call("actions/schedule", name="messages:add", ts=now + 60, args={"body": "hi"})
        cancelled = await ctx.call("actions/schedule", name="messages:add", ts=now + 60, args={})
        await ctx.call("actions/cancel_job", id=cancelled)
        raise thrown(job)

    await act(app, handler)
    jobs = app.database.begin().system.scan("", "_scheduled_jobs")
    assert [job.value["state"]["type"] for job in jobs] == ["pending", "canceled"]
