"""Writes."""

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

SCHEMA_FAILURE = (
    'Failed to insert or update a document in table "writing_strict" because it does not match the schema: '
)


async def _gone(t: Target) -> str:
    identifier = await t.mutation("writing:insert", {"value": {}})
    await t.mutation("writing:remove", {"id": identifier})
    return str(identifier)


@check(111, "insert returns the id and the document is visible in the same mutation", p1=True)
async def insert(t: Target) -> None:
    document = await t.mutation("writing:insertThenGet", {"value": {"a": 1.0}})
    expect.equal(document["a"], 1.0)
    expect.equal(await t.query("writing:get", {"id": document["_id"]}), document)


@check(112, "patch merges top-level fields; nested objects are replaced whole", p1=True)
async def patch(t: Target) -> None:
    identifier = await t.mutation("writing:insert", {"value": {"a": 1.0, "b": {"x": 1.0, "y": 2.0}}})
    document = await t.mutation("writing:patch", {"id": identifier, "value": {"b": {"x": 9.0}}})
    expect.equal((document["a"], document["b"]), (1.0, {"x": 9.0}))


@check(113, "patch with undefined removes the field", p1=True)
async def patch_undefined(t: Target) -> None:
    identifier = await t.mutation("writing:insert", {"value": {"a": 1.0, "b": 2.0}})
    document = await t.mutation("writing:patch", {"id": identifier, "value": {}, "unset": "a"})
    expect.equal(sorted(document), ["_creationTime", "_id", "b"])


@check(114, "replace drops fields that are not given and keeps the system fields", p1=True)
async def replace(t: Target) -> None:
    before = await t.mutation("writing:insertThenGet", {"value": {"a": 1.0}})
    after = await t.mutation("writing:replace", {"id": before["_id"], "value": {"b": 2.0}})
    expect.equal(after, {"_id": before["_id"], "_creationTime": before["_creationTime"], "b": 2.0})


@check(115, "A deleted document is gone", p1=True)
async def delete(t: Target) -> None:
    identifier = await t.mutation("writing:insert", {"value": {}})
    expect.equal(await t.mutation("writing:remove", {"id": identifier}), None)
    expect.equal(await t.query("writing:get", {"id": identifier}), None)


@check(116, "patch of a missing document fails")
async def patch_missing(t: Target) -> None:
    identifier = await _gone(t)
    failure = await expect.failure(t.mutation("writing:patch", {"id": identifier, "value": {"a": 1.0}}))
    expect.equal(failure.plain, f"Update on nonexistent document ID {identifier}")


@check(117, "replace of a missing document fails")
async def replace_missing(t: Target) -> None:
    identifier = await _gone(t)
    failure = await expect.failure(t.mutation("writing:replace", {"id": identifier, "value": {}}))
    expect.equal(failure.plain, f"Replace on nonexistent document ID {identifier}")


@check(118, "delete of a missing document fails, also the second one in a mutation")
async def delete_missing(t: Target) -> None:
    identifier = await _gone(t)
    failure = await expect.failure(t.mutation("writing:remove", {"id": identifier}))
    expect.equal(failure.plain, f"Delete on nonexistent document ID {identifier}")
    other = await t.mutation("writing:insert", {"value": {}})
    failure = await expect.failure(t.mutation("writing:removeTwice", {"id": other}))
    expect.equal(failure.plain, f"Delete on nonexistent document ID {other}")
    expect.true(await t.query("writing:get", {"id": other}), "the failed mutation deleted the document")


@check(119, "A top-level field that starts with an underscore is refused")
async def underscore_field(t: Target) -> None:
    failure = await expect.failure(t.mutation("writing:insert", {"value": {"_foo": 1.0}}))
    expect.contains(
        failure.plain, "Field '_foo' starts with an underscore, which is only allowed for system fields like '_id'"
    )


@check(120, "An insert cannot choose its own _id")
async def chosen_id(t: Target) -> None:
    other = await t.mutation("writing:insert", {"value": {}})
    failure = await expect.failure(t.mutation("writing:insert", {"value": {"_id": other}}))
    expect.matches(failure.plain, rf"^Provided document ID \"\w+\" doesn't match '_id' field \"{other}\"$")


@check(121, "patch and replace accept unchanged system fields")
async def unchanged_system_fields(t: Target) -> None:
    before = await t.mutation("writing:insertThenGet", {"value": {"a": 1.0}})
    expect.equal(await t.mutation("writing:writeBackWhole", {"id": before["_id"]}), before)


@check(122, "System tables cannot be written")
async def system_tables(t: Target) -> None:
    failure = await expect.failure(t.mutation("writing:insertInto", {"table": "_storage", "value": {}}))
    expect.equal(failure.plain, "System tables (prefixed with `_`) are read-only.")


@check(123, "An invalid table name is refused")
async def bad_table_name(t: Target) -> None:
    failure = await expect.failure(t.mutation("writing:insertInto", {"table": "1abc", "value": {}}))
    expect.starts(failure.plain, "Invalid argument `table` for `db.insert`: ")


@check(124, "A table the schema does not list can be written")
async def unlisted_table(t: Target) -> None:
    identifier = await t.mutation("writing:insertInto", {"table": "writing_unlisted", "value": {"a": 1.0}})
    expect.equal(len(identifier), 32)


@check(125, "A patch that changes nothing writes nothing and wakes no subscription")
async def patch_without_change(t: Target) -> None:
    identifier = await t.mutation("writing:insert", {"value": {"a": 1.0}})
    async with t.sync() as client:
        (subscription,) = await client.subscribe(("writing:watch", {"id": identifier}))
        await t.mutation("writing:patch", {"id": identifier, "value": {"a": 1.0}})
        await client.quiet()
        expect.equal(len(subscription.updates), 1, "number of results")
        await t.mutation("writing:patch", {"id": identifier, "value": {"a": 2.0}})
        await client.until(lambda: len(subscription.updates) == 2)


@check(126, "An insert that violates the schema fails", p1=True)
async def schema_violation(t: Target) -> None:
    failure = await expect.failure(t.mutation("writing:insertStrict", {"value": {"title": 1.0}}))
    expect.starts(failure.plain, f"{SCHEMA_FAILURE}Value does not match validator.")


@check(127, "A patch whose result violates the schema fails and changes nothing")
async def patch_violates_schema(t: Target) -> None:
    identifier = await t.mutation("writing:insertStrict", {"value": {"title": "a"}})
    failure = await expect.failure(t.mutation("writing:patchStrict", {"id": identifier, "value": {"title": 1.0}}))
    expect.starts(failure.plain, SCHEMA_FAILURE)
    expect.equal((await t.query("writing:getStrict", {"id": identifier}))["title"], "a")


@check(128, "v.id accepts the id of a deleted document")
async def dangling_reference(t: Target) -> None:
    user = await t.mutation("writing:deletedUser")
    await t.mutation("writing:insertStrict", {"value": {"title": "a", "author": user}})


@check(129, "v.number() refuses a bigint and v.int64() a number")
async def no_coercion(t: Target) -> None:
    for value in ({"title": "a", "count": 1}, {"title": "a", "big": 1.0}):
        failure = await expect.failure(t.mutation("writing:insertStrict", {"value": value}))
        expect.contains(failure.plain, "Value does not match validator.")
    await t.mutation("writing:insertStrict", {"value": {"title": "a", "count": 1.0, "big": 1}})


@check(130, "An optional field may be absent but not null")
async def optional_field(t: Target) -> None:
    await t.mutation("writing:insertStrict", {"value": {"title": "a"}})
    failure = await expect.failure(t.mutation("writing:insertStrict", {"value": {"title": "a", "count": None}}))
    expect.contains(failure.plain, "Path: .count\nValue: null\nValidator: v.float64()")


@check(131, "A literal outside a union is shown with the union")
async def wrong_literal(t: Target) -> None:
    failure = await expect.failure(t.mutation("writing:insertStrict", {"value": {"title": "a", "kind": "c"}}))
    expect.contains(failure.plain, "Value does not match validator.")
    expect.contains(failure.plain, 'Validator: v.union(v.literal("a"), v.literal("b"))')


@check(132, "A record takes any ASCII keys and checks its values")
async def record(t: Target) -> None:
    await t.mutation("writing:insertStrict", {"value": {"title": "a", "scores": {"x-1 y": 1.0, "z": 2.0}}})
    failure = await expect.failure(
        t.mutation("writing:insertStrict", {"value": {"title": "a", "scores": {"x": "high"}}})
    )
    expect.contains(failure.plain, 'Path: .scores.values()\nValue: "high"\nValidator: v.float64()')


@check(133, "With schemaValidation off any document is accepted and indexes still work", owns_deployment=True)
async def validation_off(t: Target) -> None:
    pushed = await t.push_only(
        {
            "convex/schema.ts": (
                'import { defineSchema, defineTable } from "convex/server";\n'
                'import { v } from "convex/values";\n'
                'export default defineSchema({ t: defineTable({ x: v.number() }).index("by_x", ["x"]) },\n'
                "  { schemaValidation: false });\n"
            ),
            "convex/m.ts": (
                'import { mutation, query } from "./_generated/server";\n'
                "export const add = mutation({ handler: async (ctx, args: any) => {"
                ' await ctx.db.insert("t", args); } });\n'
                "export const find = query({ handler: async (ctx) =>"
                ' (await ctx.db.query("t").withIndex("by_x", (q) => q.eq("x", 2)).collect()).length });\n'
            ),
        }
    )
    expect.true(pushed.ok, pushed.output)
    await t.mutation("m:add", {"x": "not a number", "extra": True})
    await t.mutation("m:add", {"x": 2.0})
    expect.equal(await t.query("m:find"), 1.0)


@check(134, "A query cannot insert")
async def no_insert_in_query(t: Target) -> None:
    expect.contains((await expect.failure(t.query("writing:insertInQuery"))).message, "Uncaught")
