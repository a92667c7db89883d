import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const addProduct = mutation({
  args: { name: v.string(), cents: v.number(), shelf: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("products", args);
  },
});

export const getPrice = query({
  args: { name: v.string() },
  handler: async (ctx, args) => {
    const product = await ctx.db
      .query("products")
      .withIndex("by_name", (q) => q.eq("name", args.name))
      .first();
    return product === null ? null : product.cents / 100;
  },
});
