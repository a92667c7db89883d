import { v } from "convex/values";
import { action } from "./server";
import { anyApi } from "convex/server";

export const callAll = action({
  args: {},
  handler: async (ctx) => {
    const before = await ctx.runQuery(anyApi.messages.list, {});
    await ctx.runMutation(anyApi.messages.send, { body: "from an action" });
    return before;
  },
});

export const dangling = action({
  args: {},
  handler: async (ctx) => {
    void ctx.runMutation(anyApi.messages.send, { body: "dangling" });
    return null;
  },
});

export const sleep = action({
  args: { ms: v.number() },
  handler: async (_, { ms }) => {
    const started = Date.now();
    await new Promise((resolve) => setTimeout(resolve, ms));
    return Date.now() - started;
  },
});

export const lazily = action({
  args: {},
  handler: async () => {
    const { fail } = await import("./helpers");
    return typeof fail;
  },
});

export const store = action({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    const id = await ctx.storage.store(new Blob([text], { type: "text/plain" }));
    const blob = await ctx.storage.get(id);
    return { id, type: blob!.type, text: await blob!.text() };
  },
});

export const load = action({
  args: { url: v.string() },
  handler: async (_, { url }) => {
    const response = await fetch(url, { method: "POST", body: "ping", headers: { "x-test": "yes" } });
    return { status: response.status, text: await response.text(), header: response.headers.get("x-answer") };
  },
});

export const fails = action({
  args: {},
  handler: async () => {
    console.log("about to fail");
    throw new Error("action failed");
  },
});
