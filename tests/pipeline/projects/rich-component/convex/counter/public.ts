import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";

export const add = mutation({
  args: { value: v.number() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.insert("counts", { value: args.value });
    await ctx.scheduler.runAfter(1000, internal.public.tidy, {});
    return null;
  },
});

export const tidy = internalMutation({
  args: {},
  returns: v.null(),
  handler: async () => null,
});

export const sum = query({
  args: { least: v.optional(v.number()), names: v.optional(v.array(v.string())) },
  returns: v.object({
    total: v.number(),
    largest: v.union(v.null(), v.number()),
    kind: v.union(v.literal("empty"), v.literal("small"), v.literal("large")),
    byName: v.record(v.string(), v.object({ value: v.number(), share: v.number(), seen: v.boolean() })),
  }),
  handler: async (ctx, args) => {
    const counts = await ctx.db.query("counts").take(100);
    const values = counts.map((count) => count.value).filter((value) => value >= (args.least ?? 0));
    const total = values.reduce((sum, value) => sum + value, 0);
    const kind = values.length === 0 ? ("empty" as const) : ("small" as const);
    return { total, largest: values.length === 0 ? null : Math.max(...values), kind, byName: {} };
  },
});
