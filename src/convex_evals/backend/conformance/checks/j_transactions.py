"""Transactions and reactivity."""

import asyncio
import uuid

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target


def _group() -> str:
    return uuid.uuid4().hex


async def _items(t: Target, group: str) -> list[float]:
    found: list[float] = await t.query("transactions:items", {"group": group})
    return found


@check(185, "A mutation that throws after writing leaves no trace", p1=True)
async def throws_after_write(t: Target) -> None:
    group = _group()
    await expect.failure(t.mutation("transactions:writeThenThrow", {"group": group}))
    expect.equal(await _items(t, group), [])


@check(186, "Catching a failed insert keeps the other writes", p1=True)
async def caught_insert(t: Target) -> None:
    group = _group()
    await t.mutation("transactions:catchesFailedInsert", {"group": group})
    expect.equal(await _items(t, group), [1.0, 2.0])


@check(187, "Concurrent increments of one counter all take effect", p1=True)
async def concurrent_increments(t: Target) -> None:
    name = _group()
    await asyncio.gather(*(t.mutation("transactions:increment", {"name": name}) for _ in range(10)))
    expect.equal(await t.query("transactions:counter", {"name": name}), 10.0)


@check(188, "Only the last attempt's log lines are delivered")
async def logs_of_last_attempt(t: Target) -> None:
    name = _group()
    replies = await asyncio.gather(*(t.reply("transactions:increment", {"name": name}, "mutation") for _ in range(10)))
    expect.equal({tuple(reply.logs) for reply in replies}, {("[LOG] 'attempt'",)})


@check(189, "A nested mutation that throws and is caught is undone alone, scheduled jobs included", p1=True)
async def nested_rollback(t: Target) -> None:
    group = _group()
    jobs = await t.mutation("transactions:catchesInner", {"group": group})
    expect.equal(await _items(t, group), [1.0, 2.0])
    expect.equal(jobs["after"], jobs["before"], "scheduled jobs")


@check(190, "An uncaught nested error undoes everything")
async def uncaught_nested(t: Target) -> None:
    group = _group()
    await expect.failure(t.mutation("transactions:doesNotCatchInner", {"group": group}))
    expect.equal(await _items(t, group), [])


@check(191, "Nested calls deeper than 8 are refused")
async def nesting_depth(t: Target) -> None:
    expect.equal(await t.query("transactions:dive", {"depth": 7.0}), 7.0)
    failure = await expect.failure(t.query("transactions:dive", {"depth": 10.0}))
    expect.contains(
        failure.message, "Cross component call depth limit exceeded. Do you have an infinite loop in your app?"
    )


@check(192, "A query cannot call a mutation")
async def mutation_from_query(t: Target) -> None:
    failure = await expect.failure(t.query("transactions:mutationFromQuery"))
    expect.equal(failure.plain, "Cannot call a Mutation function from a Query function")


@check(193, "A nested query sees pending writes; a stale snapshot does not")
async def stale_snapshot(t: Target) -> None:
    found = await t.mutation("transactions:pendingAndStale", {"group": _group()})
    expect.equal(found, {"pending": 1.0, "stale": 0.0})


@check(194, "A nested query can be given tighter limits; the caller goes on")
async def nested_limits(t: Target) -> None:
    found = await t.mutation("transactions:limitedRead", {"group": _group()})
    expect.contains(found["failure"], "Too many documents read in a single function execution (limit: ")
    expect.equal(found["after"], 2.0)


@check(195, "A subscription follows inserts, changes and removals in its range", p1=True)
async def live_range(t: Target) -> None:
    group = _group()
    async with t.sync() as client:
        (items,) = await client.subscribe(("transactions:items", {"group": group}))
        identifier = await t.mutation("transactions:addItem", {"group": group, "n": 1.0})
        await client.until(lambda: items.latest == [1.0])
        await t.mutation("transactions:setItem", {"id": identifier, "n": 2.0})
        await client.until(lambda: items.latest == [2.0])
        await t.mutation("transactions:removeItem", {"id": identifier})
        await client.until(lambda: items.latest == [])


@check(196, "A subscription with take(1) is not re-run by an insert after what it returned")
async def take_is_exact(t: Target) -> None:
    group = _group()
    await t.mutation("transactions:addItem", {"group": group, "n": 1.0})
    async with t.sync() as client:
        (first,) = await client.subscribe(("transactions:firstItem", {"group": group}))
        await t.mutation("transactions:addItem", {"group": group, "n": 2.0})
        await client.quiet()
        expect.equal(len(first.updates), 1, "number of results")
        await t.mutation("transactions:addItem", {"group": group, "n": 0.0})
        await client.until(lambda: first.latest["items"] == [0.0])


@check(197, "A subscription on one document is not re-run by changes to others")
async def get_is_exact(t: Target) -> None:
    group = _group()
    mine = await t.mutation("transactions:addItem", {"group": group, "n": 1.0})
    other = await t.mutation("transactions:addItem", {"group": group, "n": 2.0})
    async with t.sync() as client:
        (item,) = await client.subscribe(("transactions:itemAndDraw", {"id": mine}))
        await t.mutation("transactions:setItem", {"id": other, "n": 3.0})
        await client.quiet()
        expect.equal(len(item.updates), 1, "number of results")
        await t.mutation("transactions:setItem", {"id": mine, "n": 9.0})
        await client.until(lambda: item.latest["item"]["n"] == 9.0)


@check(198, "A subscription on an empty range is re-run only by an insert into it")
async def empty_range_is_exact(t: Target) -> None:
    group = _group()
    async with t.sync() as client:
        (found,) = await client.subscribe(("transactions:rangeAndDraw", {"group": group, "above": 10.0}))
        await t.mutation("transactions:addItem", {"group": group, "n": 5.0})
        await client.quiet()
        expect.equal(len(found.updates), 1, "number of results")
        await t.mutation("transactions:addItem", {"group": group, "n": 11.0})
        await client.until(lambda: found.latest["found"] == 1.0)


@check(199, "A client sees its own mutation in its subscriptions no later than the result", p1=True)
async def own_mutation(t: Target) -> None:
    group = _group()
    async with t.sync() as client:
        (items,) = await client.subscribe(("transactions:items", {"group": group}))
        for n in range(5):
            await client.mutation("transactions:addItem", {"group": group, "n": float(n)})
            expect.equal(items.latest, [float(k) for k in range(n + 1)])


@check(200, "All subscriptions of a client advance together")
async def one_timestamp(t: Target) -> None:
    group = _group()
    async with t.sync() as client:
        items, same = await client.subscribe(
            ("transactions:items", {"group": group}), ("transactions:rangeAndDraw", {"group": group, "above": -1.0})
        )
        for n in range(5):
            await t.mutation("transactions:addItem", {"group": group, "n": float(n)})
        await client.until(lambda: len(items.latest) == 5)
        for transition in client.transitions:
            touched = [one["queryId"] for one in transition["modifications"]]
            expect.true(len(touched) in (0, 2), f"one transition updated only {touched}")
        expect.equal(same.latest["found"], 5.0)
