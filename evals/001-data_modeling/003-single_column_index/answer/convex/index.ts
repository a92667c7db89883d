import { v } from "convex/values";
import { query } from "./_generated/server";

export const bySku = query({
  args: { sku: v.string() },
  handler: async (ctx, { sku }) => {
    return await ctx.db
      .query("products")
      .withIndex("by_sku", (q) => q.eq("sku", sku))
      .unique();
  },
});

export const byCategory = query({
  args: { category: v.string() },
  handler: async (ctx, { category }) => {
    return await ctx.db
      .query("products")
      .withIndex("by_category", (q) => q.eq("category", category))
      .order("desc")
      .collect();
  },
});

export const lightEnough = query({
  args: { maxWeightGrams: v.number(), limit: v.number() },
  handler: async (ctx, { maxWeightGrams, limit }) => {
    return await ctx.db
      .query("products")
      .withIndex("by_weight", (q) =>
        q.lte("shipping.weightGrams", maxWeightGrams),
      )
      .take(limit);
  },
});
