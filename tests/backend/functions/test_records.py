"""The function log: what ran, and what it cost."""

from typing import Any

import pytest

from convex_evals.backend.identity import ADMIN, ANONYMOUS, ActingAdmin, Identity, User
from convex_evals.backend.logs import Completion, Progress, UsageStats

World = Any
Context = Any


@pytest.fixture
def app(world: World) -> World:
    @world.mutation("messages:fill")
    async def fill(ctx: Context, args: dict[str, Any]) -> None:
        for number in range(3):
            await ctx.call("insert", table="messages", value={"n": number})

    @world.query("messages:list")
    async def listed(ctx: Context, args: dict[str, Any]) -> object:
        ctx.log("hi")
        return [row["n"] for row in await ctx.collect("messages")]

    @world.action("messages:both")
    async def both(ctx: Context, args: dict[str, Any]) -> None:
        ctx.log("acting")
        await ctx.call("actions/mutation", name="messages:fill", args={})
        await ctx.call("actions/query", name="messages:list", args={})

    return world


def entries(world: World) -> list[Any]:
    return list(world.log.after(0).entries)


async def test_an_execution_is_recorded_with_what_it_read_and_wrote(app: World) -> None:
    await app.runner.mutation(app.call("messages:fill", request_id="a" * 16))
    await app.runner.query(app.call("messages:list"))
    written, read = entries(app)
    assert (written.udf_type, written.identifier, written.request_id) == ("Mutation", "messages:fill", "a" * 16)
    assert (written.usage.database_write_documents, written.usage.database_read_documents) == (3, 0)
    assert written.usage.database_write_bytes > 0
    assert written.usage.round_trips == 3
    assert (read.usage.database_read_documents, read.usage.database_write_documents) == (3, 0)
    assert read.usage.database_read_bytes == written.usage.database_write_bytes
    assert (read.cached, read.error, read.return_bytes) == (False, None, 29)
    assert [line.text for line in read.log_lines] == ["[LOG] 'hi'"]
    usage = read.to_json(structured=False)["usageStats"]
    assert (usage["databaseReadDocuments"], usage["databaseReadIndexes"]) == (3, ["messages.by_creation_time"])


async def test_a_cached_result_is_recorded_as_one_that_cost_nothing(app: World) -> None:
    for _ in range(2):
        await app.runner.query(app.call("messages:list"))
    assert [entry.cached for entry in entries(app)] == [False, True]
    assert entries(app)[1].usage.database_read_documents == 0


async def test_a_failure_is_recorded_with_its_text(app: World) -> None:
    await app.runner.query(app.call("messages:nope"))
    assert entries(app)[0].error == "Could not find public function for 'messages:nope'.\n"


async def test_an_action_reports_its_lines_as_it_writes_them_and_its_calls_as_its_children(app: World) -> None:
    await app.runner.action(app.call("messages:both", request_id="a" * 16))
    lines, fill, listed, end = entries(app)
    assert isinstance(lines, Progress) and isinstance(end, Completion)
    assert [line.text for line in lines.log_lines] == ["[LOG] 'acting'"]
    assert (end.udf_type, list(end.log_lines)) == ("Action", [])
    assert fill.parent_execution_id == listed.parent_execution_id == end.execution_id
    assert {entry.request_id for entry in entries(app)} == {"a" * 16}
    assert (fill.caller, end.caller) == ("Action", "HttpApi")


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        (ANONYMOUS, "unknown"),
        (User({}), "user"),
        (ADMIN, "instance_admin"),
        (ActingAdmin(User({})), "member_acting_user"),
    ],
)
async def test_entries_say_what_kind_of_caller_it_was(app: World, identity: Identity, expected: str) -> None:
    await app.runner.query(app.call("messages:list", identity=identity))
    assert entries(app)[0].identity_type == expected


async def test_every_transaction_of_a_call_is_an_entry_with_its_work_and_the_indexes_it_used(app: World) -> None:
    await app.runner.run_any(app.call("messages:both"))
    completed = [entry for entry in entries(app) if isinstance(entry, Completion)]
    assert [(entry.identifier, entry.udf_type) for entry in completed] == [
        ("messages:fill", "Mutation"),
        ("messages:list", "Query"),
        ("messages:both", "Action"),
    ]
    filled, listed, both = (entry.usage for entry in completed)
    assert (filled.database_write_documents, listed.database_read_documents) == (3, 3)
    assert listed.database_read_bytes > 0
    assert listed.database_read_indexes == ("messages.by_creation_time",)
    assert both == UsageStats()


async def test_gets_and_index_reads_are_named(app: World) -> None:
    @app.query("messages:first")
    async def first(ctx: Context, args: dict[str, Any]) -> object:
        [row, *_] = await ctx.collect("messages", "by_creation_time")
        return await ctx.call("get", id=row["_id"])

    await app.runner.mutation(app.call("messages:fill"))
    await app.runner.query(app.call("messages:first"))
    assert entries(app)[-1].usage.database_read_indexes == ("messages.by_creation_time", "messages.by_id")
