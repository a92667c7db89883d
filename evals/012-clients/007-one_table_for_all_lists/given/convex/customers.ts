import { paginationOptsValidator } from "convex/server";
import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { level } from "./schema";

export const list = query({
  args: {
    level: v.optional(level),
    sort: v.union(v.literal("name"), v.literal("newest")),
    paginationOpts: paginationOptsValidator,
  },
  handler: async (ctx, { level, sort, paginationOpts }) => {
    const customers = ctx.db.query("customers");
    if (sort === "newest") {
      const newest =
        level === undefined ? customers : customers.withIndex("by_level", (q) => q.eq("level", level));
      return await newest.order("desc").paginate(paginationOpts);
    }
    const byName =
      level === undefined
        ? customers.withIndex("by_name")
        : customers.withIndex("by_level_and_name", (q) => q.eq("level", level));
    return await byName.paginate(paginationOpts);
  },
});

export const rename = mutation({
  args: { customerId: v.id("customers"), name: v.string() },
  handler: async (ctx, { customerId, name }) => {
    if (name.length > 20) throw new ConvexError(`${name} is too long`);
    await ctx.db.patch("customers", customerId, { name });
    return { length: name.length };
  },
});

export const setLevel = mutation({
  args: { _id: v.id("customers"), level },
  handler: async (ctx, { _id, level }) => {
    await ctx.db.patch("customers", _id, { level });
  },
});
