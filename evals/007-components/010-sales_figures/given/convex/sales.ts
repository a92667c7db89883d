import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const record = mutation({
  args: { shop: v.string(), cashier: v.string(), amount: v.number() },
  handler: async (ctx, args) => await ctx.db.insert("sales", args),
});

export const correct = mutation({
  args: { sale: v.id("sales"), amount: v.number() },
  handler: async (ctx, { sale, amount }) => {
    await ctx.db.patch("sales", sale, { amount });
    return null;
  },
});

export const cancel = mutation({
  args: { sale: v.id("sales") },
  handler: async (ctx, { sale }) => {
    await ctx.db.delete("sales", sale);
    return null;
  },
});
