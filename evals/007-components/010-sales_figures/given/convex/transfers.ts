import { v } from "convex/values";
import { internalMutation, mutation } from "./_generated/server";

/** The sale was rung up in the wrong shop. */
export const move = mutation({
  args: { sale: v.id("sales"), shop: v.string() },
  handler: async (ctx, { sale, shop }) => {
    const { cashier, amount } = (await ctx.db.get("sales", sale))!;
    await ctx.db.replace("sales", sale, { shop, cashier, amount });
    return null;
  },
});

/** Called from the dashboard when a cashier has left in anger. */
export const forget = internalMutation({
  args: { cashier: v.string() },
  handler: async (ctx, { cashier }) => {
    const sales = await ctx.db
      .query("sales")
      .withIndex("by_cashier", (q) => q.eq("cashier", cashier))
      .collect();
    await Promise.all(sales.map(({ _id }) => ctx.db.delete("sales", _id)));
    return null;
  },
});
