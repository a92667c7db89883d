"""Schema changes on a live database."""

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

FUNCTIONS = """
import { mutation, query } from "./_generated/server";
export const add = mutation({ handler: async (ctx, args: any) => await ctx.db.insert("t" as never, args as never) });
export const all = query({ handler: async (ctx) => (await ctx.db.query("t" as never).collect()).length });
export const byX = query({ handler: async (ctx) =>
  (await (ctx.db.query("t" as never) as any).withIndex("by_x", (q: any) => q.eq("x", 1)).collect()).length });
"""


def _project(tables: str) -> dict[str, str]:
    schema = (
        'import { defineSchema, defineTable } from "convex/server";\nimport { v } from "convex/values";\n'
        f"export default defineSchema({{ {tables} }});\n"
    )
    return {"convex/schema.ts": schema, "convex/m.ts": FUNCTIONS}


async def _pushed(t: Target, tables: str) -> None:
    pushed = await t.push_only(_project(tables))
    expect.true(pushed.ok, pushed.output)


async def _refused(t: Target, tables: str) -> str:
    pushed = await t.push_only(_project(tables))
    expect.true(not pushed.ok, "the push was accepted")
    return pushed.output


@check(
    209, "A schema that existing data violates fails the push and leaves the old code", p1=True, owns_deployment=True
)
async def data_violates_schema(t: Target) -> None:
    await _pushed(t, "t: defineTable(v.any())")
    identifier = await t.mutation("m:add", {"x": "text"})
    output = await _refused(t, "t: defineTable({ x: v.number() })")
    expect.contains(output, f'Document with ID "{identifier}" in table "t" does not match the schema: ')
    await t.mutation("m:add", {"x": "still accepted"})


@check(210, "An index added to a table with data finds all of it", p1=True, owns_deployment=True)
async def added_index(t: Target) -> None:
    await _pushed(t, "t: defineTable({ x: v.number() })")
    for x in (1.0, 2.0, 1.0):
        await t.mutation("m:add", {"x": x})
    await _pushed(t, 't: defineTable({ x: v.number() }).index("by_x", ["x"])')
    expect.equal(await t.query("m:byX"), 2.0)


@check(211, "A removed index is not found", owns_deployment=True)
async def removed_index(t: Target) -> None:
    await _pushed(t, 't: defineTable({ x: v.number() }).index("by_x", ["x"])')
    expect.equal(await t.query("m:byX"), 0.0)
    await _pushed(t, "t: defineTable({ x: v.number() })")
    expect.equal((await expect.failure(t.query("m:byX"))).plain, "Index t.by_x not found.")


@check(212, "A table removed from the schema keeps its documents", owns_deployment=True)
async def removed_table(t: Target) -> None:
    await _pushed(t, "t: defineTable({ x: v.number() })")
    await t.mutation("m:add", {"x": 1.0})
    await _pushed(t, "other: defineTable({ x: v.number() })")
    expect.equal(await t.query("m:all"), 1.0)


@check(213, "_creationTime cannot be listed in an index", owns_deployment=True)
async def creation_time_in_index(t: Target) -> None:
    output = await _refused(t, 't: defineTable({ x: v.number() }).index("by_t", ["_creationTime"])')
    expect.contains(output, "`_creationTime` is automatically added to the end of each index.")


@check(214, "Indexes with duplicate fields, reserved names or unknown fields fail the push", owns_deployment=True)
async def bad_indexes(t: Target) -> None:
    table = "t: defineTable({ x: v.number() })"
    duplicate = await _refused(t, f'{table}.index("i", ["x", "x"])')
    expect.contains(duplicate, 'In table "t": In index "i": Duplicate field ')
    reserved = await _refused(t, f'{table}.index("by_id", ["x"])')
    expect.contains(reserved, 'In table "t" cannot name an index "by_id" because the name is reserved.')
    unknown = await _refused(t, f'{table}.index("i", ["nope"] as never)')
    expect.contains(unknown, 'In table "t" the index "i" is invalid because it references the field')


@check(215, "A table validator that is no object is refused", owns_deployment=True)
async def table_validator(t: Target) -> None:
    output = await _refused(t, "t: defineTable(v.string() as never)")
    expect.contains(output, "The document validator in a schema must be an object, a union of objects, or")
