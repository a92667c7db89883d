import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { checkQuantity, fail } from "./lib/errors";
import { audit, staffOf } from "./lib/orders";
import { moveStock, productOf } from "./lib/stock";

export const hire = mutation({
  args: { name: v.string(), manager: v.boolean() },
  handler: async (ctx, args) => await ctx.db.insert("staff", args),
});

export const addProduct = mutation({
  args: {
    sku: v.string(),
    name: v.string(),
    price: v.number(),
    taxPercent: v.number(),
    parts: v.optional(v.array(v.object({ sku: v.string(), quantity: v.number() }))),
  },
  handler: async (ctx, args) => {
    const taken = await ctx.db
      .query("products")
      .withIndex("by_sku", (q) => q.eq("sku", args.sku))
      .unique();
    if (taken !== null) throw fail("INVALID");
    for (const part of args.parts ?? []) {
      checkQuantity(part.quantity);
      if ((await productOf(ctx, part.sku)).parts !== undefined) throw fail("INVALID");
    }
    await ctx.db.insert("products", { ...args, onHand: 0, sold: 0, revenue: 0 });
    return null;
  },
});

/** Changes what a bundle consists of, from now on. */
export const setParts = mutation({
  args: { sku: v.string(), parts: v.array(v.object({ sku: v.string(), quantity: v.number() })) },
  handler: async (ctx, { sku, parts }) => {
    const product = await productOf(ctx, sku);
    if (product.parts === undefined) throw fail("INVALID");
    await ctx.db.patch("products", product._id, { parts });
    return null;
  },
});

/** Goods have arrived from a supplier. */
export const receive = mutation({
  args: { staffId: v.id("staff"), sku: v.string(), quantity: v.number() },
  handler: async (ctx, { staffId, sku, quantity }) => {
    await staffOf(ctx, staffId);
    checkQuantity(quantity);
    if ((await productOf(ctx, sku)).parts !== undefined) throw fail("INVALID");
    await moveStock(ctx, sku, quantity, { reason: "delivery" });
    await audit(ctx, staffId, "stock.receive");
    return null;
  },
});

export const product = query({
  args: { sku: v.string() },
  handler: async (ctx, { sku }) => {
    const { name, price, onHand, sold, revenue } = await productOf(ctx, sku);
    return { name, price, onHand, sold, revenue };
  },
});
