"""Function handles and commit timestamps."""

import uuid

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

WITHOUT_TARGET = """
import { mutation } from "./_generated/server";
export const call = mutation({ handler: async (ctx, args: { handle: string }) =>
  await ctx.runMutation(args.handle as never, { name: "handle" } as never) });
"""
VARIABLES = """
import { mutation, query } from "./_generated/server";
const unresolved = (ctx: any) => ctx.db.vars.commitTs;
export const fromQuery = query({ handler: async (ctx) => unresolved(ctx) });
export const fromMutation = mutation({ handler: async (ctx) => unresolved(ctx) });
"""


@check(306, "A function handle is stable and can be called and scheduled")
async def handles(t: Target) -> None:
    first, second = await t.query("handles:make")
    expect.starts(first, "function://")
    expect.equal(first, second)
    expect.equal(await t.mutation("handles:call", {"handle": first}), "called by handle")
    expect.equal(len(await t.mutation("handles:schedule", {"handle": first})), 32)


@check(307, "A handle of a function that is gone is not found", owns_deployment=True)
async def stale_handle(t: Target) -> None:
    pushed = await t.push()
    expect.true(pushed.ok, pushed.output)
    first, _ = await t.query("handles:make")
    pushed = await t.push({"convex/handles.ts": WITHOUT_TARGET})
    expect.true(pushed.ok, pushed.output)
    failure = await expect.failure(t.mutation("handles:call", {"handle": first}))
    expect.matches(failure.message, r"Function handle not found|Could not find|does not exist")


@check(308, "One mutation's commit timestamps are equal, a later one's larger")
async def commit_timestamps(t: Target) -> None:
    one, two = uuid.uuid4().hex, uuid.uuid4().hex
    await t.mutation("handles:stamp", {"batch": one})
    await t.mutation("handles:stamp", {"batch": two})
    first, second = await t.query("handles:stamps", {"batch": one}), await t.query("handles:stamps", {"batch": two})
    expect.true(isinstance(first[0], int) and first[0] == first[1], f"found {first}")
    expect.true(second[0] == second[1] > first[0], f"{second} is not later than {first}")


@check(309, "A query cannot return an unresolved commit timestamp; a mutation may", owns_deployment=True)
async def returned_timestamp(t: Target) -> None:
    pushed = await t.push_only({"convex/variables.ts": VARIABLES})
    expect.true(pushed.ok, pushed.output)
    await expect.failure(t.query("variables:fromQuery"))
    expect.true(isinstance(await t.mutation("variables:fromMutation"), int), "no Int64")
