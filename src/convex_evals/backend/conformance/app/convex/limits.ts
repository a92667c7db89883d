import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";

export const fillSmall = mutation({
  args: { from: v.number(), count: v.number() },
  handler: async (ctx, args) => {
    const inserts = [];
    for (let n = 0; n < args.count; n++) inserts.push(ctx.db.insert("limits_small", { n: args.from + n }));
    await Promise.all(inserts);
  },
});

export const fillBig = mutation({
  args: { count: v.number() },
  handler: async (ctx, args) => {
    for (let n = 0; n < args.count; n++) await ctx.db.insert("limits_big", { text: "x".repeat(1_000_000) });
  },
});

export const readSmall = query({
  args: { count: v.number() },
  handler: async (ctx, args) => (await ctx.db.query("limits_small").take(args.count)).length,
});

export const readBig = query({ args: {}, handler: async (ctx) => (await ctx.db.query("limits_big").collect()).length });

export const manyGets = query({
  args: { count: v.number() },
  handler: async (ctx, args) => {
    const first = (await ctx.db.query("limits_small").first())!;
    const reads = [];
    for (let n = 0; n < args.count; n++)
      reads.push(ctx.db.query("limits_small").withIndex("by_n", (q) => q.eq("n", -1 - 2 * n)).first());
    await Promise.all(reads);
    return first.n;
  },
});

export const schedulesMany = mutation({
  args: { count: v.number() },
  handler: async (ctx, args) => {
    for (let n = 0; n < args.count; n++) await ctx.scheduler.runAfter(3_600_000, internal.limits.nothing, {});
  },
});

export const nothing = internalMutation({ args: {}, handler: async () => {} });

export const catchesLimit = query({
  args: {},
  handler: async (ctx) => {
    try {
      await ctx.db.query("limits_big").collect();
    } catch (error) {
      return (error as Error).message;
    }
    return "no limit";
  },
});
