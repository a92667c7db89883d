import asyncio
from dataclasses import replace
from typing import Any

import pytest

from convex_evals.backend.database import ReadSet
from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.functions.calls import QueryOutcome
from convex_evals.backend.functions.queries import CLOCK_SECONDS, MAX_ENTRIES, QueryCache, QueryKey
from convex_evals.backend.identity import ANONYMOUS, Identity, User
from convex_evals.backend.runtime import LogLine

World = Any
Context = Any

ADA, BOB = User({"subject": "ada"}), User({"subject": "bob"})

PATH = FunctionPath("messages.js", "list")
KEY = QueryKey(PATH, "[{}]", None)


@pytest.fixture
def app(world: World) -> World:
    @world.mutation("messages:send")
    async def send(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("insert", table="messages", value=args)

    @world.query("messages:list")
    async def listed(ctx: Context, args: dict[str, Any]) -> object:
        ctx.log("listing")
        return [row["body"] for row in await ctx.collect("messages")]

    @world.query("messages:whoami")
    async def whoami(ctx: Context, args: dict[str, Any]) -> object:
        identity = await ctx.call("getUserIdentity")
        return identity and identity["subject"]

    @world.query("messages:clock")
    async def clock(ctx: Context, args: dict[str, Any]) -> float:
        ctx.clock_read = True
        return float(len(world.runtime.executions))

    @world.query("messages:page")
    async def page(ctx: Context, args: dict[str, Any]) -> object:
        source = {"type": "FullTableScan", "tableName": "messages", "order": None}
        found = await ctx.call(
            "queryPage", query={"source": source, "operators": []}, cursor=args.get("cursor"), pageSize=2
        )
        return [row["body"] for row in found["page"]]

    return world


async def send(world: World, *bodies: str) -> None:
    for body in bodies:
        await world.runner.mutation(world.call("messages:send", {"body": body}))


def runs(world: World) -> int:
    return sum(execution.kind == "query" for execution in world.runtime.executions)


async def test_a_result_is_reused_until_something_it_read_changes(app: World) -> None:
    call = app.call("messages:list")
    first = await app.runner.query(call)
    again = await app.runner.query(call)
    assert (first.value, again.value, runs(app)) == ("[]", "[]", 1)
    assert again.log_texts == first.log_texts == ["[LOG] 'listing'"]
    assert again.request_id != first.request_id
    await send(app, "hi")
    changed = await app.runner.query(call)
    assert (changed.value, runs(app)) == ('["hi"]', 2)


async def test_equal_queries_at_the_same_time_run_once(app: World) -> None:
    outcomes = await asyncio.gather(*(app.runner.query(app.call("messages:list")) for _ in range(10)))
    assert [outcome.value for outcome in outcomes] == ["[]"] * 10
    assert len({outcome.request_id for outcome in outcomes}) == 10
    assert runs(app) == 1


async def test_a_caller_who_disconnects_does_not_stop_the_query(app: World) -> None:
    calls = [asyncio.create_task(app.runner.query(app.call("messages:list"))) for _ in range(2)]
    await asyncio.sleep(0)
    calls[0].cancel()
    assert (await calls[1]).value == "[]"
    assert runs(app) == 1


async def test_writes_elsewhere_do_not_touch_a_result(app: World) -> None:
    @app.mutation("other:write")
    async def write(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("insert", table="other", value={})

    await send(app, "hi")
    await app.runner.query(app.call("messages:list"))
    await app.runner.mutation(app.call("other:write"))
    outcome = await app.runner.query(app.call("messages:list"))
    assert runs(app) == 1
    assert outcome.ts == app.database.latest


async def test_a_push_makes_every_result_new(app: World) -> None:
    outcome = await app.runner.query(app.call("messages:list"))
    before = app.database.latest
    app.deploy()
    assert app.database.changed_since(outcome.read_set, before)
    await app.runner.query(app.call("messages:list"))
    assert runs(app) == 2


async def test_an_environment_variable_makes_every_result_new(app: World) -> None:
    await app.runner.query(app.call("messages:list"))
    await app.runner.write(
        "test",
        lambda transaction: transaction.system.insert("", "_environment_variables", {"name": "A", "value": "x"}),
    )
    await app.runner.query(app.call("messages:list"))
    assert [execution.env.get("A") for execution in app.runtime.executions] == [None, "x"]


@pytest.mark.parametrize(
    ("path", "identities", "expected_runs"),
    [("messages:list", [ANONYMOUS, ADA, BOB], 1), ("messages:whoami", [ANONYMOUS, ADA, BOB, ADA], 3)],
)
async def test_callers_share_results_unless_the_query_asked_who_they_are(
    app: World, path: str, identities: list[Identity], expected_runs: int
) -> None:
    outcomes = [await app.runner.query(app.call(path, identity=identity)) for identity in identities]
    assert runs(app) == expected_runs
    if path == "messages:whoami":
        assert [outcome.value for outcome in outcomes] == ["null", '"ada"', '"bob"', '"ada"']


async def test_a_result_of_an_internal_function_is_not_shown_to_others(app: World) -> None:
    @app.query("messages:secret", visibility="internal")
    async def secret(ctx: Context, args: dict[str, Any]) -> str:
        return "secret"

    assert (await app.runner.query(app.admin("messages:secret"))).value == '"secret"'
    assert not (await app.runner.query(app.call("messages:secret"))).succeeded


async def test_arguments_are_part_of_what_is_reused(app: World) -> None:
    for args in ({"a": 1}, {"a": 2}, {"b": 1, "a": 1}, {"a": 1, "b": 1}):
        await app.runner.query(app.call("messages:list", args))
    assert runs(app) == 3


async def test_a_failure_is_a_result_and_recovers_when_what_it_read_changes(app: World, thrown: Any) -> None:
    @app.query("messages:first")
    async def first(ctx: Context, args: dict[str, Any]) -> object:
        rows = await ctx.collect("messages")
        if not rows:
            raise thrown("empty")
        return rows[0]["body"]

    for _ in range(2):
        assert "Uncaught Error: empty" in (await app.runner.query(app.call("messages:first"))).failure.message
    assert runs(app) == 1
    await send(app, "hi")
    assert (await app.runner.query(app.call("messages:first"))).value == '"hi"'


async def test_a_refused_call_depends_on_the_code(app: World) -> None:
    outcome = await app.runner.query(app.call("messages:later"))
    before = app.database.latest
    assert not app.database.changed_since(outcome.read_set, before)

    @app.query("messages:later")
    async def later(ctx: Context, args: dict[str, Any]) -> str:
        return "now"

    assert app.database.changed_since(outcome.read_set, before)
    assert (await app.runner.query(app.call("messages:later"))).value == '"now"'


async def test_a_query_can_be_run_at_a_past_snapshot(app: World) -> None:
    await send(app, "old")
    past = app.database.latest
    await send(app, "new")
    assert (await app.runner.query(app.call("messages:list"), at=past)).value == '["old"]'
    assert (await app.runner.query(app.call("messages:list"))).value == '["old","new"]'
    assert (await app.runner.query(app.call("messages:list"), at=past)).value == '["old"]'


async def test_the_journal_keeps_the_extent_of_a_page(app: World) -> None:
    await send(app, "a", "b", "c")
    first = await app.runner.query(app.call("messages:page"))
    assert (first.value, first.journal is None) == ('["a","b"]', False)
    transaction = app.database.begin()
    [row] = [row for row in transaction.scan(*_by_creation(transaction)) if row.document.value["body"] == "a"]
    transaction.delete("", row.document.id)
    app.database.commit(transaction)
    kept = await app.runner.query(app.call("messages:page"), journal=first.journal)
    assert (kept.value, kept.journal) == ('["b"]', first.journal)
    assert (await app.runner.query(app.call("messages:page"))).value == '["b","c"]'


def _by_creation(transaction: Any) -> tuple[Any, Any, Any]:
    from convex_evals.backend.database.ranges import EVERYTHING

    table = transaction.table_named("", "messages")
    return table, table.by_creation_time, EVERYTHING


async def test_a_query_that_does_not_paginate_has_no_journal(app: World) -> None:
    assert (await app.runner.query(app.call("messages:list"))).journal is None


async def test_a_journal_that_is_not_a_cursor_fails_the_query(app: World) -> None:
    outcome = await app.runner.query(app.call("messages:page"), journal="%%%")
    assert "Failed to parse cursor" in outcome.failure.message


async def test_only_one_paginated_query_per_function(app: World) -> None:
    @app.query("messages:twice")
    async def twice(ctx: Context, args: dict[str, Any]) -> None:
        for _ in range(2):
            source = {"type": "FullTableScan", "tableName": "messages", "order": None}
            await ctx.call("queryPage", query={"source": source, "operators": []}, cursor=None, pageSize=2)

    outcome = await app.runner.query(app.call("messages:twice"))
    assert "This query or mutation function ran multiple paginated queries." in outcome.failure.message


async def test_lines_are_delivered_with_every_result(app: World) -> None:
    outcome = await app.runner.query(app.call("messages:list"))
    assert outcome.log_lines == [LogLine("LOG", ("'listing'",), 1.0)]
    assert replace(outcome, log_lines=[]).log_texts == []


async def test_arguments_nested_too_deeply_are_refused(app: World) -> None:
    args: dict[str, Any] = {}
    for _ in range(300):
        args = {"a": args}
    outcome = await app.runner.query(app.call("messages:list", args))
    assert "Value is too nested" in outcome.failure.message


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def outcome(ts: int = 10, value: str = "[]") -> QueryOutcome:
    return QueryOutcome(value, None, "r", ts=ts, read_set=ReadSet())


def unchanged(read_set: ReadSet, ts: int) -> bool:
    return False


def test_a_result_that_looked_at_the_clock_does_not_hold_forever() -> None:
    clock = Clock()
    cache = QueryCache(unchanged, clock)
    cache.put(KEY, "", outcome(), clock_read=True)
    clock.now += CLOCK_SECONDS - 0.1
    assert cache.get(KEY, "", at=10) is not None
    clock.now += 0.2
    assert cache.get(KEY, "", at=10) is None


def test_a_result_that_did_not_look_at_the_clock_does() -> None:
    clock = Clock()
    cache = QueryCache(unchanged, clock)
    cache.put(KEY, "", outcome(), clock_read=False)
    clock.now += 1e6
    assert cache.get(KEY, "", at=10) is not None


def test_a_result_does_not_answer_for_the_past() -> None:
    cache = QueryCache(unchanged)
    cache.put(KEY, "", outcome(ts=10), clock_read=False)
    assert cache.get(KEY, "", at=9) is None
    assert cache.get(KEY, "", at=11) is not None


def test_validity_is_checked_from_the_last_time_it_was_known() -> None:
    asked: list[int] = []

    def changed(read_set: ReadSet, ts: int) -> bool:
        asked.append(ts)
        return False

    cache = QueryCache(changed)
    cache.put(KEY, "", outcome(ts=10), clock_read=False)
    for at in (20, 30):
        cache.get(KEY, "", at)
    assert asked == [10, 20]


def test_old_results_make_room() -> None:
    cache = QueryCache(unchanged)
    keys = [QueryKey(PATH, str(number), None) for number in range(MAX_ENTRIES + 1)]
    for key in keys:
        cache.put(key, "", outcome(), clock_read=False)
    assert cache.get(keys[0], "", at=10) is None
    assert cache.get(keys[-1], "", at=10) is not None
