"""An app with a component of its own, mounted twice."""

import json
from typing import Any

import pytest

CONFIG = """
import { defineApp } from "convex/server";
import counter from "./counter/convex.config";
const app = defineApp();
app.use(counter, { env: { GREETING: "hello" } });
%s
export default app;
"""
SECOND = 'app.use(counter, { name: "second", httpPrefix: "/second/" });'

MAIN = """
import { mutation } from "./_generated/server";
import { components } from "./_generated/api";
export const go = mutation({
  args: {},
  handler: async (ctx): Promise<number> => {
    await ctx.runMutation(components.counter.public.increase, { name: "a" });
    return await ctx.runMutation(components.%s.public.increase, { name: "a", by: 5 });
  },
});
"""

FILES = {
    "convex/convex.config.ts": CONFIG % SECOND,
    "convex/main.ts": MAIN % "second",
    "convex/counter/convex.config.ts": """
import { defineComponent } from "convex/server";
import { v } from "convex/values";
export default defineComponent("counter", { env: { GREETING: v.optional(v.string()) } });
""",
    "convex/counter/schema.ts": """
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({
  counters: defineTable({ name: v.string(), value: v.number() }).index("by_name", ["name"]),
});
""",
    "convex/counter/public.ts": """
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const increase = mutation({
  args: { name: v.string(), by: v.optional(v.number()) },
  returns: v.number(),
  handler: async (ctx, { name, by }) => {
    const found = await ctx.db.query("counters").withIndex("by_name", (q) => q.eq("name", name)).unique();
    const value = (found?.value ?? 0) + (by ?? 1);
    if (found) await ctx.db.patch(found._id, { value });
    else await ctx.db.insert("counters", { name, value });
    return value;
  },
});

export const greeting = query({
  args: {},
  returns: v.union(v.string(), v.null()),
  handler: async () => process.env.GREETING ?? null,
});
""",
    "convex/counter/http.ts": """
import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";
const http = httpRouter();
http.route({ path: "/hi", method: "GET", handler: httpAction(async () => new Response("hi")) });
export default http;
""",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", ["1-44", "1-48"])
async def test_instances_share_code_but_not_data_and_come_and_go(project: Any, version: str) -> None:
    project.use(version)
    project.write(FILES)
    answer = await project.convex("dev", "--once", "--tail-logs", "disable")
    assert answer.exit_code == 0, answer.output
    assert "Installed component counter." in answer.output
    assert "Installed component second." in answer.output
    generated = (project.folder / "convex/counter/_generated/component.ts").read_text()
    assert "{ by?: number; name: string }" in generated

    assert (await project.deployment.mutation("main:go")).value == "5.0"
    answer = await project.convex("run", "--component", "counter", "public:greeting")
    assert json.loads(answer.stdout) == "hello"
    answer = await project.convex("run", "--component", "second", "public:greeting")
    assert (answer.exit_code, answer.stdout.strip()) in [(0, ""), (0, "null")]

    project.write({"convex/convex.config.ts": CONFIG % "", "convex/main.ts": MAIN % "counter"})
    answer = await project.push()
    assert "Unmounted component second." in answer.output
    assert (await project.deployment.mutation("main:go")).value == "7.0"

    project.write(FILES)
    answer = await project.push()
    assert "Remounted component second." in answer.output
    assert (await project.deployment.mutation("main:go")).value == "10.0"
