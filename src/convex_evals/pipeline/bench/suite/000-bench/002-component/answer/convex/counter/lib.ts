import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const increment = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.db.insert("hits", {});
    return null;
  },
});

export const total = query({
  args: {},
  returns: v.number(),
  handler: async (ctx) => (await ctx.db.query("hits").collect()).length,
});
