"""What `convex deploy` says about indexes, and that they are there afterwards."""

from typing import Any

import pytest

SCHEMA = """
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({ t: defineTable({ a: v.string(), b: v.string() })%s });
"""

QUERY = """
import { query } from "./_generated/server";
export const find = query({
  args: {},
  handler: async (ctx) =>
    (await ctx.db.query("t").withIndex("by_%s" as any, (q: any) => q.eq("%s", "x")).collect()).map((row: any) => row.b),
});
"""


@pytest.mark.parametrize("version", [pytest.param("1-44", marks=pytest.mark.exhaustive), "1-48"])
async def test_an_index_can_replace_another_under_existing_data(project: Any, version: str) -> None:
    project.use(version)
    project.write({"convex/schema.ts": SCHEMA % '.index("by_a", ["a"])', "convex/q.ts": QUERY % ("a", "a")})
    assert (await project.push()).exit_code == 0
    database = project.deployment.database
    transaction = database.begin()
    transaction.insert("", "t", {"a": "x", "b": "first"})
    transaction.insert("", "t", {"a": "y", "b": "x"})
    database.commit(transaction)
    assert (await project.deployment.query("q:find")).value == '["first"]'

    project.write({"convex/schema.ts": SCHEMA % '.index("by_b", ["b"])', "convex/q.ts": QUERY % ("b", "b")})
    answer = await project.convex("deploy", "-y", "--typecheck", "disable")
    assert answer.exit_code == 0, answer.output
    assert "[-] t.by_a   a, _creationTime" in answer.output
    assert "[+] t.by_b   b, _creationTime" in answer.output
    assert (await project.deployment.query("q:find")).value == '["x"]'
