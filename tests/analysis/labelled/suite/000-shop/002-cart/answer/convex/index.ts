import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const addItem = mutation({
  args: { cart: v.string(), item: v.string(), quantity: v.number() },
  handler: async (ctx, args) => {
    if (args.quantity <= 0) {
      throw new Error("The quantity must be positive");
    }
    const lines = await ctx.db
      .query("lines")
      .withIndex("by_cart", (q) => q.eq("cart", args.cart))
      .collect();
    const line = lines.find((each) => each.item === args.item);
    if (line === undefined) {
      await ctx.db.insert("lines", args);
    } else {
      await ctx.db.patch(line._id, { quantity: line.quantity + args.quantity });
    }
  },
});

export const removeItem = mutation({
  args: { cart: v.string(), item: v.string() },
  handler: async (ctx, args) => {
    const lines = await ctx.db
      .query("lines")
      .withIndex("by_cart", (q) => q.eq("cart", args.cart))
      .collect();
    const line = lines.find((each) => each.item === args.item);
    if (line === undefined) {
      return;
    }
    await ctx.db.delete(line._id);
  },
});

export const getCart = query({
  args: { cart: v.string() },
  handler: async (ctx, args) => {
    const lines = await ctx.db
      .query("lines")
      .withIndex("by_cart", (q) => q.eq("cart", args.cart))
      .collect();
    return lines.map((line) => ({ item: line.item, quantity: line.quantity }));
  },
});
