"""Syscalls of queries and mutations: shapes, names in error texts, and who may make them."""

from typing import Any

import pytest

from convex_evals.backend.errors import DeveloperError

World = Any
Context = Any


async def run(world: World, handler: Any, kind: str = "mutation", **options: Any) -> Any:
    getattr(world, kind)("test:run")(handler)
    return await getattr(world.runner, kind)(world.call("test:run", **options))


async def test_documents_can_be_written_and_read(world: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        document_id = (await ctx.call("insert", table="messages", value={"a": 1, "b": 2}))["_id"]
        patched = await ctx.call("shallowMerge", id=document_id, value={"a": {"$undefined": None}, "c": 3})
        assert patched == await ctx.call("get", id=document_id, table="messages")
        replaced = await ctx.call("replace", id=document_id, value={"d": 4})
        assert {name: replaced[name] for name in replaced if not name.startswith("_")} == {"d": 4.0}
        assert await ctx.call("count", table="messages") == 1
        assert ctx.now("db/normalizeId", table="messages", idString=document_id) == {"id": document_id}
        assert await ctx.call("remove", id=document_id) == replaced
        return await ctx.call("get", id=document_id)

    assert (await run(world, handler)).value == "null"


async def test_rows_can_be_fetched_ahead_and_only_those_pulled_count(world: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        for number in range(10):
            await ctx.call("insert", table="messages", value={"n": number})
        source = {"type": "FullTableScan", "tableName": "messages", "order": None}
        query = {"source": source, "operators": []}
        batch = await ctx.ask("query/fetch", {"queryId": 0, "max": 5, "query": query})
        assert (len(batch["rows"]), batch["done"]) == (5, False)
        ctx.bridge.pulled({0: 2})
        batch = await ctx.ask("query/fetch", {"queryId": 0, "max": 100})
        assert (len(batch["rows"]), batch["done"]) == (5, True)
        return (await ctx.call("getTransactionMetrics"))["documentsRead"]

    assert (await run(world, handler)).value == '{"remaining":31998.0,"used":2.0}'


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("get", {}, "Invalid arguments for `db.get`: missing field `id`"),
        ("get", {"id": 5}, "Invalid arguments for `db.get`: invalid type: integer `5`, expected a string"),
        ("get", {"id": "abc"}, "Invalid argument `id` for `db.get`: Unable to decode ID: Invalid ID length 3"),
        (
            "get",
            {"id": "abc", "isSystem": True},
            "Invalid argument `id` for `db.system.get`: Unable to decode ID: Invalid ID length 3",
        ),
        ("insert", {"table": "a b", "value": {}}, "Invalid argument `table` for `db.insert`: "),
        ("insert", {"table": "a", "value": 5}, "Invalid argument `value` for `db.insert`: Value must be an Object"),
        ("nope", {}, "Unknown async operation 1.0/nope"),
        ("auditLog", {"body": {"x": "y" * 5_000_000}}, "Audit logs exceed function execution limits"),
        ("actions/query", {}, "Unknown async operation 1.0/actions/query"),
    ],
)
async def test_wrong_arguments_are_named(
    world: World, thrown: Any, name: str, args: dict[str, Any], message: str
) -> None:
    errors = []

    async def handler(ctx: Context, _: dict[str, Any]) -> None:
        try:
            await ctx.call(name, **args)
        except thrown as error:
            errors.append(str(error))

    assert (await run(world, handler)).succeeded
    assert errors[0].startswith(message)


@pytest.mark.parametrize(
    "name", ["insert", "shallowMerge", "replace", "remove", "schedule", "cancel_job", "storageDelete"]
)
async def test_queries_cannot_write(world: World, name: str) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call(name)

    outcome = await run(world, handler, "query")
    assert f"Unknown async operation 1.0/{name}" in outcome.failure.message


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("nope", "{}", "Unknown operation nope"),
        ("1.0/db/normalizeId", "{", "Received invalid json: "),
        ("1.0/db/normalizeId", "{}", "Invalid arguments for `db.normalizeId`: missing field `table`"),
        ("1.0/componentArgument", '{"name":"x"}', "Component arguments are not available within the app"),
        ("1.0/db/normalizeId", '{"table":"1a","idString":"x"}', "Invalid argument `table` for `db.normalizeId`: "),
    ],
)
async def test_synchronous_syscalls_throw(world: World, name: str, args: str, message: str) -> None:
    async def handler(ctx: Context, _: dict[str, Any]) -> None:
        with pytest.raises(DeveloperError) as refused:
            ctx.bridge.call_now(name, args)
        assert refused.value.message.startswith(message)

    assert (await run(world, handler, "query")).succeeded


async def test_a_mutation_knows_its_request_and_a_query_does_not(world: World) -> None:
    async def handler(ctx: Context, args: dict[str, Any]) -> object:
        return (await ctx.call("getRequestMetadata"))["requestId"]

    assert (await run(world, handler, request_id="b" * 16)).value == f'"{"b" * 16}"'
    refused = await run(world, handler, "query")
    assert "Cannot get request metadata in a Query" in refused.failure.message


async def test_a_component_has_no_arguments_any_more(world: World) -> None:
    @world.query("public:args", component="counter")
    async def arguments(ctx: Context, args: dict[str, Any]) -> object:
        return ctx.now("componentArgument", name="x")

    assert (await world.runner.query(world.admin("public:args", component="counter"))).value == "{}"
