import { ConvexError, v } from "convex/values";
import { mutation, query } from "./server";
import { anyApi } from "convex/server";

let calls = 0;
export const startedAt = Date.now();
export const luck = Math.random();

export const list = query({
  args: {},
  handler: async (ctx) => {
    return await ctx.db.query("messages").collect();
  },
});

export const first = query({
  args: {},
  handler: async (ctx) => await ctx.db.query("messages").first(),
});

export const firstThree = query({
  args: {},
  handler: async (ctx) => {
    const found = [];
    for await (const message of ctx.db.query("messages")) {
      found.push(message);
      if (found.length === 3) break;
    }
    return found;
  },
});

export const send = mutation({
  args: { body: v.string() },
  handler: async (ctx, { body }) => {
    calls++;
    await ctx.db.insert("messages", { body });
    return calls;
  },
});

export const sendMany = mutation({
  args: { bodies: v.array(v.string()) },
  handler: async (ctx, { bodies }) => {
    return await Promise.all(bodies.map((body) => ctx.db.insert("messages", { body })));
  },
});

export const forget = mutation({
  args: {},
  handler: async (ctx) => {
    void ctx.db.insert("messages", { body: "not awaited" });
    return "returned";
  },
});

export const constants = query({
  args: {},
  handler: async () => ({ startedAt, luck, now: Date.now(), random: Math.random() }),
});

export const refuse = query({
  args: {},
  handler: async () => {
    throw new ConvexError({ code: 1 });
  },
});

export const callee = query({
  args: {},
  handler: async (ctx) => await ctx.runQuery(anyApi.messages.list, {}),
});

export const normalize = query({
  args: { id: v.string() },
  handler: async (ctx, { id }) => ctx.db.normalizeId("messages", id),
});
