import { v } from "convex/values";
import type { Part } from "./contract";
import { internalMutation, mutation, query } from "./_generated/server";
import { partBySku } from "./lib/commands";
import { fail, isCount } from "./lib/util";
import { part } from "./lib/validators";

export const put = mutation({
  args: part.fields,
  returns: v.id("parts"),
  handler: async (ctx, part) => {
    if (!isCount(part.cents, 0) || (part.stock !== null && !isCount(part.stock, 0))) throw fail("INVALID");
    const existing = await partBySku(ctx, part.sku);
    if (existing === null) return await ctx.db.insert("parts", part);
    await ctx.db.replace("parts", existing._id, part);
    return existing._id;
  },
});

/** All that were asked for, by sku: null if there is no such part. */
export const find = query({
  args: { skus: v.array(v.string()) },
  returns: v.record(v.string(), v.nullable(part)),
  handler: async (ctx, { skus }) => {
    const found: Record<string, Part | null> = {};
    for (const sku of skus) {
      const part = await partBySku(ctx, sku);
      found[sku] = part && { sku, name: part.name, cents: part.cents, stock: part.stock };
    }
    return found;
  },
});

/** What a supplier has delivered. Parts that are not counted stay so. All or nothing. */
export const deliver = internalMutation({
  args: { items: v.array(v.object({ sku: v.string(), count: v.number() })) },
  returns: v.number(),
  handler: async (ctx, { items }) => {
    for (const { sku, count } of items) {
      const part = await partBySku(ctx, sku);
      if (part === null) throw fail("NOT_FOUND", { sku });
      if (part.stock !== null) await ctx.db.patch("parts", part._id, { stock: part.stock + count });
    }
    return items.length;
  },
});
