"""The oldest and the newest CLI deploy and call; the newest, exhaustively each version, then looks and changes."""

import json
from typing import Any

import pytest
from tests.examples import exhaustively

MESSAGES = """
import { internalMutation, mutation, query } from "./_generated/server";
import { v } from "convex/values";

export const send = mutation({
  args: { author: v.string(), body: v.string() },
  returns: v.id("messages"),
  handler: async (ctx, args) => {
    console.log("sending", args.body);
    return await ctx.db.insert("messages", args);
  },
});

export const list = query({
  args: { author: v.optional(v.string()) },
  handler: async (ctx, { author }) => {
    if (author === undefined) return await ctx.db.query("messages").collect();
    return await ctx.db.query("messages").withIndex("by_author", (q) => q.eq("author", author)).collect();
  },
});

export const clean = internalMutation({
  args: {},
  handler: async (ctx) => {
    for (const message of await ctx.db.query("messages").collect()) await ctx.db.delete(message._id);
  },
});
"""

FILES = {
    "convex/schema.ts": """
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({
  messages: defineTable({ author: v.string(), body: v.string() }).index("by_author", ["author"]),
});
""",
    "convex/messages.ts": MESSAGES,
    "convex/http.ts": """
import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";
const http = httpRouter();
http.route({ path: "/hi", method: "GET", handler: httpAction(async () => new Response("hi")) });
export default http;
""",
    "convex/crons.ts": """
import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";
const crons = cronJobs();
crons.daily("clean up", { hourUTC: 3, minuteUTC: 0 }, internal.messages.clean, {});
export default crons;
""",
    "convex/node.ts": """
"use node";
import os from "node:os";
import { action } from "./_generated/server";
export const platform = action({ args: {}, handler: async () => os.platform() });
""",
}

STORY_SECONDS = 600


@pytest.mark.slow
@pytest.mark.timeout(STORY_SECONDS)
async def test_the_oldest_version_deploys_and_calls(project: Any) -> None:
    await _deploy_and_call(project, "1-31", "--typecheck", "disable")  # which takes most of the time; the others check


@pytest.mark.slow
@pytest.mark.timeout(STORY_SECONDS)
@pytest.mark.parametrize("version", [*exhaustively("1-31", "1-41", "1-44"), "1-48"])
async def test_every_command_works(project: Any, version: str) -> None:
    await _deploy_and_call(project, version)

    answer = await project.convex("run", "node:platform")
    assert json.loads(answer.stdout) == "linux", answer.output

    answer = await project.convex("run", "messages:nope")
    assert answer.exit_code == 1
    assert "messages:send" in answer.output  # the functions there are

    answer = await project.convex("data")
    assert "messages" in answer.stdout
    answer = await project.convex("data", "messages")
    assert "hello" in answer.stdout

    answer = await project.convex("function-spec")
    spec = json.loads(answer.stdout)
    assert [function.get("identifier") for function in spec["functions"]] == [
        None,
        "messages.js:send",
        "messages.js:list",
        "messages.js:clean",
        "node.js:platform",
    ]

    await _variables(project)
    await project.logs_until("messages:send")

    answer = await project.convex("deploy", "-y")
    assert answer.exit_code == 0, answer.output
    assert f"Deployed Convex functions to {project.deployment.url}" in answer.output

    answer = await project.convex("codegen")
    assert answer.exit_code == 0, answer.output


async def _deploy_and_call(project: Any, version: str, *options: str) -> None:
    project.use(version)
    project.write(FILES)

    answer = await project.convex("dev", "--once", *options)
    assert (answer.exit_code, "Convex functions ready!" in answer.output) == (0, True), answer.output
    assert "[+] messages.by_author   author, _creationTime" in answer.output

    answer = await project.convex("run", "messages:send", '{"author": "ada", "body": "hello"}')
    assert answer.exit_code == 0, answer.output
    assert "sending" in answer.output
    sent = json.loads(answer.stdout)

    answer = await project.convex("run", "messages:list", '{"author": "ada"}')
    assert [message["_id"] for message in json.loads(answer.stdout)] == [sent]


async def _variables(project: Any) -> None:
    assert (await project.convex("env", "set", "COLOR", "green")).exit_code == 0
    assert (await project.convex("env", "get", "COLOR")).stdout.strip() == "green"
    assert (await project.convex("env", "remove", "COLOR")).exit_code == 0
    assert "COLOR" not in (await project.convex("env", "list")).stdout
