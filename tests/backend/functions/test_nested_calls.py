from typing import Any

import pytest

from convex_evals.backend.limits import MAX_CALL_DEPTH

World = Any
Context = Any


@pytest.fixture
def app(world: World) -> World:
    @world.mutation("messages:add")
    async def add(ctx: Context, args: dict[str, Any]) -> str:
        ctx.log(f"adding {args['body']}")
        return str((await ctx.call("insert", table="messages", value=args))["_id"])

    @world.query("messages:list")
    async def listed(ctx: Context, args: dict[str, Any]) -> object:
        return [row["body"] for row in await ctx.collect("messages")]

    @world.mutation("public:inc", component="counter")
    async def inc(ctx: Context, args: dict[str, Any]) -> float:
        ctx.log("counting")
        await ctx.call("insert", table="counts", value={})
        return float(len(await ctx.collect("counts")))

    @world.query("public:count", component="counter")
    async def count(ctx: Context, args: dict[str, Any]) -> float:
        return float(len(await ctx.collect("counts")))

    @world.mutation("private:reset", component="counter", visibility="internal")
    async def reset(ctx: Context, args: dict[str, Any]) -> None:
        return None

    return world


async def call(world: World, handler: Any, kind: str = "mutation") -> Any:
    """The outcome of a function with this handler."""
    getattr(world, kind)("test:run")(handler)
    return await getattr(world.runner, kind)(world.call("test:run"))


async def test_a_nested_query_sees_what_the_mutation_has_written(app: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        await ctx.call("runUdf", udfType="mutation", name="messages:add", args={"body": "hi"})
        return await ctx.call("runUdf", udfType="query", name="messages:list", args={})

    assert (await call(app, handler)).value == '["hi"]'


async def test_lines_of_the_callee_come_where_the_call_was(app: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> None:
        ctx.log("before")
        await ctx.call("runUdf", udfType="mutation", name="messages:add", args={"body": "hi"})
        await ctx.call("runUdf", udfType="mutation", reference="_reference/childComponent/counter/public/inc", args={})
        ctx.log("after")

    outcome = await call(app, handler)
    assert outcome.log_texts == ["[LOG] 'before'", "[LOG] 'adding hi'", "[LOG] 'counting'", "[LOG] 'after'"]
    assert [(line.component_path, line.udf_path) for line in outcome.log_lines] == [
        (None, None),
        (None, None),
        ("counter", "public:inc"),
        (None, None),
    ]


async def test_a_callee_that_throws_takes_back_its_own_writes_only(app: World, thrown: Any) -> None:
    @app.mutation("messages:addAndFail")
    async def add_and_fail(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("runUdf", udfType="mutation", name="messages:add", args={"body": "lost"})
        await ctx.call("schedule", name="messages:add", ts=ctx.execution.now_ms / 1000, args={})
        raise thrown("no")

    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        await ctx.call("insert", table="messages", value={"body": "first"})
        with pytest.raises(thrown, match="Uncaught Error: no\n    at handler"):
            await ctx.call("runUdf", udfType="mutation", name="messages:addAndFail", args={})
        await ctx.call("insert", table="messages", value={"body": "second"})
        return (await ctx.call("getTransactionMetrics"))["functionsScheduled"]["used"]

    assert (await call(app, handler)).value == "1.0"
    assert (await app.runner.query(app.call("messages:list"))).value == '["first","second"]'
    assert app.database.begin().system.scan("", "_scheduled_jobs") == []


async def test_an_uncaught_error_of_a_callee_fails_the_whole_mutation(app: World, thrown: Any) -> None:
    @app.query("messages:fail")
    async def fail(ctx: Context, args: dict[str, Any]) -> None:
        raise thrown("boom", data='{"code":7.0}')

    async def handler(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("insert", table="messages", value={"body": "lost"})
        await ctx.call("runUdf", udfType="query", name="messages:fail", args={})

    outcome = await call(app, handler)
    assert outcome.failure.message.startswith("Uncaught ConvexError: Uncaught ConvexError: boom\n    at handler")
    assert outcome.failure.data == '{"code":7.0}'
    assert (await app.runner.query(app.call("messages:list"))).value == "[]"


@pytest.mark.parametrize(
    ("kind", "args", "message"),
    [
        (
            "query",
            {"udfType": "mutation", "name": "messages:add"},
            "Cannot call a Mutation function from a Query function",
        ),
        (
            "query",
            {"udfType": "snapshotQuery", "name": "messages:list"},
            "Cannot call a SnapshotQuery function from a Query function",
        ),
        ("mutation", {"udfType": "action", "name": "messages:add"}, "Invalid argument `udfType` for `runUdf`: "),
        ("mutation", {"udfType": "query"}, "Invalid arguments for `runUdf`: Missing required argument 'name'"),
        (
            "mutation",
            {"udfType": "query", "name": "a b:c"},
            "Invalid argument `name` for `runUdf`: a b:c is not a valid",
        ),
        (
            "mutation",
            {"udfType": "query", "name": "messages:nope"},
            "Could not find public function for 'messages:nope'.",
        ),
        (
            "mutation",
            {"udfType": "query", "name": "messages:add"},
            "Trying to execute messages.js:add as Query, but it is defined as Mutation.",
        ),
        ("mutation", {"udfType": "query", "functionHandle": "function://nope"}, "Function handle not found"),
        (
            "mutation",
            {"udfType": "query", "reference": "_reference/childComponent/nope/public/inc"},
            'Child component "nope" not found',
        ),
        (
            "mutation",
            {"udfType": "mutation", "reference": "_reference/childComponent/counter/private/reset"},
            'Child component "counter" does not export [private, reset]',
        ),
        (
            "mutation",
            {"udfType": "query", "name": "messages:list", "args": 5},
            "Invalid argument `args` for `runUdf`: ",
        ),
    ],
)
async def test_calls_that_cannot_be_made_say_why(
    app: World, thrown: Any, kind: str, args: dict[str, Any], message: str
) -> None:
    errors = []

    async def handler(ctx: Context, _: dict[str, Any]) -> None:
        try:
            await ctx.call("runUdf", **{"args": {}, **args})
        except thrown as error:
            errors.append(str(error))

    assert (await call(app, handler, kind)).succeeded
    assert errors[0].startswith(message)


async def test_arguments_of_a_callee_are_checked_and_the_caller_may_catch(app: World, thrown: Any) -> None:
    strict = '{"type":"object","value":{"body":{"fieldType":{"type":"string"},"optional":false}}}'

    @app.query("messages:strict", args=strict, returns='{"type":"string"}')
    async def strict_query(ctx: Context, args: dict[str, Any]) -> object:
        return 5 if args["body"] == "wrong" else args["body"]

    errors = []

    async def handler(ctx: Context, _: dict[str, Any]) -> None:
        for given in ({}, {"body": "wrong"}):
            try:
                await ctx.call("runUdf", udfType="query", name="messages:strict", args=given)
            except thrown as error:
                errors.append(str(error).partition(".")[0])

    assert (await call(app, handler)).succeeded
    assert errors == [
        "ArgumentValidationError: Object is missing the required field `body`",
        "ReturnsValidationError: Value does not match validator",
    ]


async def test_calls_nest_to_a_limit(app: World) -> None:
    depths = []

    @app.query("test:deeper")
    async def deeper(ctx: Context, args: dict[str, Any]) -> None:
        depths.append(args["depth"])
        await ctx.call("runUdf", udfType="query", name="test:deeper", args={"depth": args["depth"] + 1})

    outcome = await app.runner.query(app.call("test:deeper", {"depth": 0}))
    assert max(depths) == MAX_CALL_DEPTH
    assert "Cross component call depth limit exceeded. Do you have an infinite loop in your app?" in (
        outcome.failure.message
    )


async def test_a_snapshot_query_sees_the_state_at_the_start_and_causes_no_conflicts(app: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        await ctx.call("insert", table="messages", value={"body": "mine"})
        before = await ctx.call("runUdf", udfType="snapshotQuery", name="messages:list", args={})
        if len(app.runtime.executions) == 2:
            await app.runner.mutation(app.call("messages:add", {"body": "theirs"}))
        return [before, await ctx.call("runUdf", udfType="snapshotQuery", name="messages:list", args={})]

    await app.runner.mutation(app.call("messages:add", {"body": "old"}))
    app.runtime.executions.clear()
    outcome = await call(app, handler)
    assert outcome.value == '[["old"],["old"]]'
    assert sum(execution.path.stripped == "test:run" for execution in app.runtime.executions) == 1


async def test_a_nested_call_may_be_given_a_budget(app: World, thrown: Any) -> None:
    @app.mutation("messages:addThree")
    async def add_three(ctx: Context, args: dict[str, Any]) -> None:
        for _ in range(3):
            await ctx.call("insert", table="messages", value={"body": "x"})

    async def handler(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("insert", table="messages", value={"body": "x"})
        with pytest.raises(thrown, match=r"Too many writes in a single function execution \(limit: 3\)"):
            await ctx.call(
                "runUdf",
                udfType="mutation",
                name="messages:addThree",
                args={},
                transactionLimits={"documentsWritten": 2},
            )
        await ctx.call("runUdf", udfType="mutation", name="messages:addThree", args={})

    assert (await call(app, handler)).succeeded


async def test_components_have_tables_of_their_own(app: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        reference = "_reference/childComponent/counter/public"
        await ctx.call("insert", table="counts", value={})
        await ctx.call("insert", table="counts", value={})
        first = await ctx.call("runUdf", udfType="mutation", reference=f"{reference}/inc", args={})
        return [first, await ctx.call("runUdf", udfType="query", reference=f"{reference}/count", args={})]

    assert (await call(app, handler)).value == "[1.0,1.0]"


async def test_components_reach_only_their_own_children(app: World, thrown: Any) -> None:
    @app.query("public:peek", component="counter")
    async def peek(ctx: Context, args: dict[str, Any]) -> object:
        return await ctx.call("runUdf", udfType="query", reference="_reference/childComponent/counter/x/y", args={})

    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        return await ctx.call(
            "runUdf", udfType="query", reference="_reference/childComponent/counter/public/peek", args={}
        )

    assert 'Child component "counter" not found' in (await call(app, handler)).failure.message


async def test_a_component_sees_only_the_variables_it_was_given(app: World) -> None:
    def set_variables(transaction: Any) -> None:
        for name, value in {"SPEED": "fast", "SECRET": "x"}.items():
            transaction.system.insert("", "_environment_variables", {"name": name, "value": value})

    async def handler(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("runUdf", udfType="query", reference="_reference/childComponent/counter/public/count", args={})

    await app.runner.write("test", set_variables)
    await call(app, handler)
    outer, inner = (dict(execution.env) for execution in app.runtime.executions[-2:])
    urls = {"CONVEX_CLOUD_URL": "http://127.0.0.1:1", "CONVEX_SITE_URL": "http://127.0.0.1:2"}
    assert outer == {"SPEED": "fast", "SECRET": "x", **urls}
    assert inner == {"MODE": "fast", **urls}


async def test_handles_name_functions_across_components_and_deployments(app: World, thrown: Any) -> None:
    reference = "_reference/childComponent/counter/public/inc"

    async def create(ctx: Context, args: dict[str, Any]) -> object:
        handle = await ctx.call("createFunctionHandle", reference=reference)
        assert await ctx.call("createFunctionHandle", functionHandle=handle) == handle
        return handle

    handle = (await call(app, create, "query")).value.strip('"')
    assert handle.startswith("function://") and handle.endswith("#public:inc")
    assert (await call(app, create, "query")).value.strip('"') == handle

    async def use(ctx: Context, args: dict[str, Any]) -> object:
        return await ctx.call("runUdf", udfType="mutation", functionHandle=handle.partition("#")[0], args={})

    assert (await call(app, use)).value == "1.0"


async def test_time_limits_cannot_be_caught_by_the_caller(app: World, thrown: Any) -> None:
    text = "Function execution timed out (maximum duration: 1s)"

    @app.query("messages:loop")
    async def loop(ctx: Context, args: dict[str, Any]) -> None:
        raise thrown(text, fatal=True)

    fatal = []

    async def handler(ctx: Context, args: dict[str, Any]) -> None:
        try:
            await ctx.call("runUdf", udfType="query", name="messages:loop", args={})
        except thrown as error:
            fatal.append(error.fatal)

    await call(app, handler)
    assert fatal == [True]
