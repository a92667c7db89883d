import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const increase = mutation({
  args: {},
  returns: v.number(),
  handler: async (ctx) => {
    const count = await ctx.db.query("counts").unique();
    const value = (count?.value ?? 0) + 1;
    if (count === null) await ctx.db.insert("counts", { value });
    else await ctx.db.patch(count._id, { value });
    return value;
  },
});

export const value = query({
  args: {},
  returns: v.number(),
  handler: async (ctx) => (await ctx.db.query("counts").unique())?.value ?? 0,
});
