import { makeFunctionReference, paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: { name: v.string() },
  handler: async (ctx, args) => await ctx.db.insert("counters", { name: args.name, value: 0 }),
});

// `salt` makes every call a different one, so that none is answered from the cache.
export const one = query({
  args: { id: v.id("counters"), salt: v.number() },
  handler: async (ctx, args) => await ctx.db.get(args.id),
});

export const increment = mutation({
  args: { id: v.id("counters") },
  handler: async (ctx, args) => {
    const counter = await ctx.db.get(args.id);
    await ctx.db.patch(args.id, { value: counter!.value + 1 });
  },
});

export const schedule = mutation({
  args: { id: v.id("counters") },
  handler: async (ctx, args) => {
    await ctx.scheduler.runAfter(0, makeFunctionReference<"mutation">("bench:scheduled"), args);
  },
});

export const scheduled = mutation({
  args: { id: v.id("counters") },
  handler: async (ctx, args) => {
    await ctx.db.patch(args.id, { name: "scheduled" });
  },
});

export const fill = mutation({
  args: { from: v.number(), count: v.number() },
  handler: async (ctx, args) => {
    for (let n = args.from; n < args.from + args.count; n++)
      await ctx.db.insert("rows", { n, text: "a row of ordinary size" });
  },
});

export const range = query({
  args: { from: v.number(), salt: v.number() },
  handler: async (ctx, args) =>
    await ctx.db
      .query("rows")
      .withIndex("by_n", (q) => q.gte("n", args.from).lt("n", args.from + 100))
      .collect(),
});

export const page = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => await ctx.db.query("rows").withIndex("by_n").paginate(args.paginationOpts),
});
