import asyncio
from typing import Any

import pytest

from convex_evals.backend.errors import RequestError, WorkerCrashed, WorkerLost
from convex_evals.backend.functions.calls import SessionRequest

World = Any
Context = Any


@pytest.fixture
async def counter(world: World) -> str:
    """The id of a document whose `n` the mutation `counter:add` increments."""

    @world.mutation("counter:create")
    async def create(ctx: Context, args: dict[str, Any]) -> str:
        return str((await ctx.call("insert", table="counters", value={"n": 0}))["_id"])

    @world.mutation("counter:add")
    async def add(ctx: Context, args: dict[str, Any]) -> float:
        document = await ctx.call("get", id=args["id"])
        await asyncio.sleep(0)  # others run meanwhile
        await ctx.call("shallowMerge", id=args["id"], value={"n": document["n"] + 1})
        return float(document["n"] + 1)

    @world.query("counter:get")
    async def get(ctx: Context, args: dict[str, Any]) -> float:
        return float((await ctx.call("get", id=args["id"]))["n"])

    outcome = await world.runner.mutation(world.call("counter:create"))
    return str(outcome.value).strip('"')


async def test_a_mutation_that_throws_leaves_nothing_behind(world: World, thrown: Any) -> None:
    @world.mutation("a:fail")
    async def fail(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("insert", table="messages", value={})
        raise thrown("no")

    before = world.database.latest
    outcome = await world.runner.mutation(world.call("a:fail"))
    assert (outcome.succeeded, outcome.ts) == (False, None)
    assert world.database.latest == before
    assert world.database.begin().catalog("").tables == {}


async def test_a_mutation_whose_return_value_is_refused_leaves_nothing_behind(world: World) -> None:
    @world.mutation("a:wrong", returns='{"type":"string"}')
    async def wrong(ctx: Context, args: dict[str, Any]) -> float:
        await ctx.call("insert", table="messages", value={})
        return 1.0

    assert not (await world.runner.mutation(world.call("a:wrong"))).succeeded
    assert world.database.begin().catalog("").tables == {}


async def test_the_outcome_carries_the_commit_timestamp_also_inside_the_value(world: World) -> None:
    @world.mutation("a:stamp")
    async def stamp(ctx: Context, args: dict[str, Any]) -> object:
        await ctx.call("insert", table="messages", value={"at": {"$commitTs": None}})
        return {"at": {"$commitTs": None}}

    @world.query("a:read")
    async def read(ctx: Context, args: dict[str, Any]) -> object:
        return {"at": (await ctx.collect("messages"))[0]["at"]}

    outcome = await world.runner.mutation(world.call("a:stamp"))
    assert outcome.ts == world.database.latest
    assert outcome.value == (await world.runner.query(world.call("a:read"))).value
    assert "$integer" in str(outcome.value)


async def test_many_callers_of_one_document_all_succeed(world: World, counter: str) -> None:
    async def client() -> None:
        for _ in range(50):
            assert (await world.runner.mutation(world.call("counter:add", {"id": counter}))).succeeded

    await asyncio.gather(*(client() for _ in range(32)))
    assert (await world.runner.query(world.call("counter:get", {"id": counter}))).value == "1600.0"
    # Lining up costs far less than running everything twice.
    assert len(world.runtime.executions) < 1600 * 1.5


async def test_different_functions_on_one_document_all_succeed(world: World, counter: str) -> None:
    @world.mutation("counter:addTwo")
    async def add_two(ctx: Context, args: dict[str, Any]) -> None:
        document = await ctx.call("get", id=args["id"])
        await asyncio.sleep(0)
        await ctx.call("shallowMerge", id=args["id"], value={"n": document["n"] + 2})

    calls = [world.call(name, {"id": counter}) for name in ["counter:add", "counter:addTwo"] * 40]
    outcomes = await asyncio.gather(*(world.runner.mutation(call) for call in calls))
    assert all(outcome.succeeded for outcome in outcomes)
    assert (await world.runner.query(world.call("counter:get", {"id": counter}))).value == "120.0"


async def test_blind_inserts_never_conflict(world: World, counter: str) -> None:
    await asyncio.gather(*(world.runner.mutation(world.call("counter:create")) for _ in range(50)))
    assert len(world.runtime.executions) == 51


async def test_a_mutation_that_always_loses_is_given_up(world: World, counter: str) -> None:
    @world.mutation("counter:slow")
    async def slow(ctx: Context, args: dict[str, Any]) -> None:
        await ctx.call("get", id=args["id"])
        transaction = world.database.begin()  # someone who does not wait for turns
        document = transaction.get("", args["id"])
        transaction.patch("", args["id"], {"n": document.value["n"] + 1})
        world.database.commit(transaction, "counter:rude")
        await ctx.call("insert", table="other", value={})

    with pytest.raises(RequestError) as refused:
        await world.runner.mutation(world.call("counter:slow", {"id": counter}))
    assert (refused.value.status, refused.value.code) == (503, "OptimisticConcurrencyControlFailure")
    assert refused.value.message == (
        'Documents read from or written to the "counters" table changed while this mutation was being run and on every '
        f'subsequent retry. A call to "counter:rude" changed the document with ID "{counter}". '
        "See https://docs.convex.dev/error#1"
    )
    attempts = [execution for execution in world.runtime.executions if execution.path.function == "slow"]
    assert len(attempts) == 5
    assert len({execution.seed for execution in attempts}) == 5
    retried = [entry for entry in world.log.after(0).entries if entry.identifier == "counter:slow"]
    assert [entry.will_retry for entry in retried] == [True] * 5
    assert retried[0].occ_info.document_id == counter


async def test_only_the_lines_of_the_last_attempt_reach_the_caller(world: World, counter: str) -> None:
    @world.mutation("counter:unlucky")
    async def unlucky(ctx: Context, args: dict[str, Any]) -> None:
        ctx.log(f"attempt {len(world.runtime.executions)}")
        await ctx.call("get", id=args["id"])
        if len(world.runtime.executions) == 2:
            await world.runner.mutation(world.call("counter:add", {"id": counter}))
        await ctx.call("insert", table="other", value={})

    outcome = await world.runner.mutation(world.call("counter:unlucky", {"id": counter}))
    assert outcome.log_texts == ["[LOG] 'attempt 4'"]


async def test_the_same_request_of_a_session_runs_once(world: World, counter: str) -> None:
    request = SessionRequest("b831f486-43ac-4d02-976e-a1a6000c618a", 3)
    first = await world.runner.mutation(world.call("counter:add", {"id": counter}), session_request=request)
    again = await world.runner.mutation(world.call("counter:add", {"id": counter}), session_request=request)
    assert (again.value, again.ts) == (first.value, first.ts) == ("1.0", first.ts)
    other = SessionRequest(request.session_id, 4)
    assert (
        await world.runner.mutation(world.call("counter:add", {"id": counter}), session_request=other)
    ).value == "2.0"


async def test_a_failed_request_of_a_session_may_be_tried_again(world: World, thrown: Any) -> None:
    @world.mutation("a:flaky")
    async def flaky(ctx: Context, args: dict[str, Any]) -> str:
        if len(world.runtime.executions) == 1:
            raise thrown("not yet")
        ctx.log("done")
        return "done"

    request = SessionRequest("b831f486-43ac-4d02-976e-a1a6000c618a", 0)
    assert not (await world.runner.mutation(world.call("a:flaky"), session_request=request)).succeeded
    assert (await world.runner.mutation(world.call("a:flaky"), session_request=request)).value == '"done"'
    replayed = await world.runner.mutation(world.call("a:flaky"), session_request=request)
    assert (replayed.value, replayed.log_texts) == ('"done"', ["[LOG] 'done'"])
    assert len(world.runtime.executions) == 2


@pytest.mark.parametrize("losses", [1, 2])
@pytest.mark.parametrize("kind", ["query", "mutation"])
async def test_a_call_that_loses_its_worker_is_tried_again_once(world: World, kind: str, losses: int) -> None:
    async def killer(ctx: Context, args: dict[str, Any]) -> str:
        if len(world.runtime.executions) <= losses:
            raise WorkerCrashed("gone")
        return "survived"

    getattr(world, kind)("a:killer")(killer)
    outcome = await getattr(world.runner, kind)(world.call("a:killer"))
    if losses == 1:
        assert outcome.value == '"survived"'
    else:
        assert outcome.failure.message == "JavaScript execution ran out of memory (maximum memory usage: 64 MB)\n"


async def test_an_action_that_loses_its_worker_is_not_run_twice(world: World) -> None:
    @world.action("a:killer")
    async def killer(ctx: Context, args: dict[str, Any]) -> str:
        raise WorkerCrashed("gone")

    with pytest.raises(WorkerLost):
        await world.runner.action(world.call("a:killer"))
    assert len(world.runtime.executions) == 1


async def test_a_companion_takes_part_in_the_transaction(world: World, thrown: Any) -> None:
    class MutationHook:
        def begin(self, transaction: Any, request_id: str) -> None:
            transaction.system.insert("", "_scheduled_jobs", {"step": "begun"})

        def finish(self, transaction: Any, finished: Any) -> None:
            transaction.system.insert("", "_scheduled_jobs", {"step": "finished"})

    @world.mutation("a:maybe")
    async def maybe(ctx: Context, args: dict[str, Any]) -> None:
        if args["fail"]:
            raise thrown("no")

    for fail in (True, False):
        await world.runner.mutation(world.call("a:maybe", {"fail": fail}), hook=MutationHook())
    rows = world.database.begin().system.scan("", "_scheduled_jobs")
    assert [row.value["step"] for row in rows] == ["begun", "finished"]
