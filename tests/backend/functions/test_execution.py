"""What is refused before a function runs, in which order and words; what is checked afterwards."""

from typing import Any

import pytest

from convex_evals.backend.functions.calls import Call
from convex_evals.backend.identity import ANONYMOUS, ActingAdmin, User
from convex_evals.backend.values import dumps

World = Any
Context = Any

STRICT = '{"type":"object","value":{"body":{"fieldType":{"type":"string"},"optional":false}}}'
NUMBER = '{"type":"number"}'
MESSAGES_ID = '{"type":"object","value":{"id":{"fieldType":{"type":"id","tableName":"messages"},"optional":false}}}'


@pytest.fixture
def app(world: World) -> World:
    async def echo(ctx: Context, args: dict[str, Any]) -> Any:
        return args

    async def text(ctx: Context, args: dict[str, Any]) -> Any:
        return "text"

    world.query("messages:list")(echo)
    world.query("messages:default")(echo)
    world.query("messages:hidden", visibility="internal")(echo)
    world.query("_deps/chunk:list")(echo)
    world.mutation("messages:send", args=STRICT)(echo)
    world.action("messages:ask")(echo)
    world.query("messages:number", returns=NUMBER)(text)
    world.query("public:get", component="counter")(echo)
    return world


ERRORS: list[tuple[str, str, object, str]] = [
    ("query", "messages:nope", {}, "Could not find public function for 'messages:nope'.\n"),
    ("query", "nope", {}, "Could not find public function for 'nope'.\n"),
    ("query", "messages:hidden", {}, "Could not find public function for 'messages:hidden'.\n"),
    ("query", "_deps/chunk:list", {}, "Could not find public function for '_deps/chunk:list'.\n"),
    ("query", "messages:send", {}, "Trying to execute messages.js:send as Query, but it is defined as Mutation.\n"),
    ("mutation", "messages:list", {}, "Trying to execute messages.js:list as Mutation, but it is defined as Query.\n"),
    ("action", "messages", {}, "Trying to execute messages.js:default as Action, but it is defined as Query.\n"),
    (
        "query",
        "messages:list",
        {"$x": 1},
        "Invalid arguments for messages.js:list: Field name $x starts with '$', which is reserved.\n",
    ),
    (
        "mutation",
        "messages:send",
        {},
        "ArgumentValidationError: Object is missing the required field `body`. Consider wrapping the field validator "
        "in `v.optional(...)` if this is expected.\n\nObject: {}\nValidator: v.object({body: v.string()})\n\n",
    ),
    (
        "mutation",
        "messages:send",
        [{}, {}],
        "ArgumentValidationError: Expected to receive a single object as the function's argument. Instead received 2 "
        "arguments: [{}, {}]\n",
    ),
    (
        "mutation",
        "messages:send",
        [5],
        "ArgumentValidationError: Expected to receive an object as the function's argument. Instead received: 5.0\n",
    ),
    (
        "query",
        "messages:number",
        {},
        'ReturnsValidationError: Value does not match validator.\n\nValue: "text"\nValidator: v.float64()\n',
    ),
]


@pytest.mark.parametrize(("kind", "path", "args", "message"), ERRORS)
async def test_a_call_that_must_fail_says_why(app: World, kind: str, path: str, args: object, message: str) -> None:
    outcome = await getattr(app.runner, kind)(app.call(path, args))
    assert outcome.failure.message == message
    assert outcome.value is None
    assert outcome.failure.text("4d7c1a9be0f23a55") == f"[Request ID: 4d7c1a9be0f23a55] Server Error\n{message}"


@pytest.mark.parametrize("kind", ["query", "mutation", "action"])
async def test_a_deployment_without_code_has_no_functions(world: World, kind: str) -> None:
    world.current.application = None
    outcome = await getattr(world.runner, kind)(world.call("messages:list"))
    assert outcome.failure.message == "Could not find public function for 'messages:list'.\n"


async def test_components_are_out_of_reach_for_ordinary_callers(app: World) -> None:
    outcome = await app.runner.query(app.call("public:get", component="counter"))
    assert outcome.failure.message == "Could not find public function for 'public:get' in 'counter'.\n"


async def test_texts_about_component_functions_name_the_component(app: World) -> None:
    outcome = await app.runner.mutation(app.admin("public:get", component="counter"))
    assert (
        outcome.failure.message
        == "Trying to execute public.js:get in 'counter' as Mutation, but it is defined as Query.\n"
    )


@pytest.mark.parametrize("path", ["messages:hidden", "messages:list"])
async def test_administrators_may_call_internal_functions_also_when_they_act_as_a_user(app: World, path: str) -> None:
    acting = ActingAdmin(User({"subject": "ada"}))
    assert (await app.runner.query(app.admin(path))).succeeded
    assert (await app.runner.query(app.call(path, identity=acting))).succeeded


async def test_the_scheduler_may_call_internal_functions(app: World) -> None:
    assert (await app.runner.query(app.call("messages:hidden", allow_internal=True, caller="Scheduler"))).succeeded


async def test_arguments_that_are_too_large_are_refused_before_they_are_checked(app: World) -> None:
    outcome = await app.runner.mutation(app.call("messages:send", {"blob": "x" * (17 * 2**20)}))
    assert outcome.failure.message == ("Arguments for messages.js:send are too large (actual: 17 MiB, limit: 16 MiB)\n")


async def test_a_bare_object_and_a_list_of_one_are_the_same_arguments(app: World) -> None:
    bare = await app.runner.query(app.call("messages:list", {"a": 1}))
    listed = await app.runner.query(app.call("messages:list", [{"a": 1}]))
    assert bare.value == listed.value == '{"a":1.0}'


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            {"$x": 1},
            "Function messages.js:get return value invalid: Field name $x starts with '$', which is reserved.\n",
        ),
        (
            [0] * 9000,
            "Function messages.js:get return value invalid: Array length is too long (9000 > maximum length 8192)\n",
        ),
        (
            {"$commitTs": None},
            "Function messages.js:get return value invalid: queries cannot return an unresolved commit timestamp\n",
        ),
    ],
)
async def test_a_query_that_returns_no_value_fails(world: World, returned: object, message: str) -> None:
    @world.query("messages:get")
    async def get(ctx: Context, args: dict[str, Any]) -> object:
        return returned

    assert (await world.runner.query(world.call("messages:get"))).failure.message == message


async def test_a_return_value_that_is_too_large_fails(world: World) -> None:
    @world.query("messages:get")
    async def get(ctx: Context, args: dict[str, Any]) -> object:
        return "x" * (16 * 2**20 + 1)

    outcome = await world.runner.query(world.call("messages:get"))
    assert outcome.failure.message == (
        "Function messages.js:get return value is too large (actual: 16 MiB, limit: 16 MiB)\n"
    )


async def test_ids_are_checked_against_the_tables_there_are(world: World) -> None:
    @world.mutation("messages:add")
    async def add(ctx: Context, args: dict[str, Any]) -> object:
        return (await ctx.call("insert", table=args["table"], value={}))["_id"]

    @world.query("messages:get", args=MESSAGES_ID)
    async def get(ctx: Context, args: dict[str, Any]) -> object:
        return await ctx.call("get", id=args["id"])

    async def added(table: str) -> str:
        outcome = await world.runner.mutation(world.call("messages:add", {"table": table}))
        return str(outcome.value).strip('"')

    message, user = await added("messages"), await added("users")
    assert (await world.runner.query(world.call("messages:get", {"id": message}))).succeeded
    refused = await world.runner.query(world.call("messages:get", {"id": user}))
    assert f'Found ID "{user}" from table `users`' in refused.failure.message


async def test_nothing_runs_while_the_deployment_is_paused(app: World) -> None:
    from convex_evals.backend.environment import write_paused

    await app.runner.write("test", lambda transaction: write_paused(transaction, True))
    for kind, path in [("query", "messages:list"), ("mutation", "messages:send"), ("action", "messages:ask")]:
        outcome = await getattr(app.runner, kind)(app.call(path))
        assert outcome.failure.message == (
            "Cannot run functions while this deployment is paused. Resume the deployment in the dashboard settings to "
            "allow functions to run.\n"
        )
    await app.runner.write("test", lambda transaction: write_paused(transaction, False))
    assert (await app.runner.query(app.call("messages:list"))).succeeded


async def test_uncaught_errors_keep_their_text_frames_and_data(world: World, thrown: Any) -> None:
    @world.mutation("messages:fail")
    async def fail(ctx: Context, args: dict[str, Any]) -> object:
        ctx.log("before")
        raise thrown('{"code":7}', data=dumps({"code": 7.0}))

    outcome = await world.runner.mutation(world.call("messages:fail"))
    assert outcome.failure.message == 'Uncaught ConvexError: {"code":7}\n    at handler (../convex/a.ts:1:1)\n'
    assert outcome.failure.data == '{"code":7.0}'
    assert outcome.log_texts == ["[LOG] 'before'"]


@pytest.mark.parametrize("redact", [True, False])
async def test_a_deployment_that_redacts_shows_ordinary_callers_only_the_data(
    world: World, thrown: Any, redact: bool
) -> None:
    world.host.redact = redact

    @world.action("messages:fail")
    async def fail(ctx: Context, args: dict[str, Any]) -> object:
        ctx.log("secret")
        raise thrown("secret", data='"public"')

    ordinary: Call = world.call("messages:fail", request_id="a" * 16, identity=ANONYMOUS)
    outcome = await world.runner.action(ordinary)
    assert (outcome.failure.text(outcome.request_id) == f"[Request ID: {'a' * 16}] Server Error") == redact
    assert (outcome.log_texts == []) == redact
    assert outcome.failure.data == '"public"'
    trusted = await world.runner.action(world.admin("messages:fail"))
    assert "secret" in trusted.failure.text(trusted.request_id)
