"""Limits. The tables stay filled from one check to the next: filling them is the slow part."""

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

BATCH = 8_000


async def _small_rows(t: Target, wanted: int) -> None:
    present = int(await t.system("frontend/tableSize", {"tableName": "limits_small"}))
    while present < wanted:
        count = min(BATCH, wanted - present)
        await t.mutation("limits:fillSmall", {"from": float(present), "count": float(count)})
        present += count


async def _big_rows(t: Target) -> None:
    if await t.system("frontend/tableSize", {"tableName": "limits_big"}) < 18:
        await t.mutation("limits:fillBig", {"count": 9.0})
        await t.mutation("limits:fillBig", {"count": 9.0})


@check(201, "Reading 32,001 documents is too many")
async def documents_read(t: Target) -> None:
    await _small_rows(t, 32_001)
    failure = await expect.failure(t.query("limits:readSmall", {"count": 32_001.0}))
    expect.starts(failure.plain, "Too many documents read in a single function execution (limit: 32000). Consider ")


@check(202, "Reading more than 16 MiB is too much")
async def bytes_read(t: Target) -> None:
    await _big_rows(t)
    failure = await expect.failure(t.query("limits:readBig"))
    expect.starts(failure.plain, "Too many bytes read in a single function execution (limit: 16777216 bytes). ")


@check(203, "Reading 4097 separate ranges is too many")
async def ranges_read(t: Target) -> None:
    await _small_rows(t, 1)
    failure = await expect.failure(t.query("limits:manyGets", {"count": 4_097.0}))
    expect.starts(failure.plain, "Too many reads in a single function execution (limit: 4096). ")


@check(204, "Writing 16,001 documents is too many")
async def documents_written(t: Target) -> None:
    failure = await expect.failure(t.mutation("limits:fillSmall", {"from": 0.0, "count": 16_001.0}))
    expect.equal(failure.plain, "Too many writes in a single function execution (limit: 16000)")


@check(205, "Writing more than 16 MiB is too much")
async def bytes_written(t: Target) -> None:
    failure = await expect.failure(t.mutation("limits:fillBig", {"count": 17.0}))
    expect.equal(failure.plain, "Too many bytes written in a single function execution (limit: 16 MiB)")


@check(206, "Scheduling 1001 functions is too many")
async def functions_scheduled(t: Target) -> None:
    failure = await expect.failure(t.mutation("limits:schedulesMany", {"count": 1_001.0}))
    expect.equal(failure.plain, "Too many functions scheduled by this mutation (limit: 1000)")


@check(207, "Reading 26,000 documents succeeds with a warning")
async def read_warning(t: Target) -> None:
    await _small_rows(t, 26_000)
    reply = await t.reply("limits:readSmall", {"count": 26_000.0})
    expect.equal(reply.value, 26_000.0)
    expect.true(
        any(
            line.startswith("[WARN] Many documents read in a single function execution (actual: 26000, limit: 32000).")
            for line in reply.logs
        ),
        f"found {reply.logs}",
    )


@check(208, "Limit errors can be caught")
async def catchable(t: Target) -> None:
    await _big_rows(t)
    expect.starts(await t.query("limits:catchesLimit"), "Too many bytes read in a single function execution")
