import { v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";
import { partBySku } from "./lib/commands";
import { fail, isCount } from "./lib/util";

export const put = mutation(async (ctx, part: any): Promise<any> => {
  if (!isCount(part.cents, 0) || (part.stock !== null && !isCount(part.stock, 0))) throw fail("INVALID");
  const existing = await partBySku(ctx, part.sku);
  if (!existing) return await ctx.db.insert("parts", part);
  await ctx.db.replace("parts", existing._id, part);
  return existing._id;
});

/** All that were asked for, by sku: null if there is no such part. */
export const find = query({
  args: { skus: v.array(v.any()) },
  handler: async (ctx, { skus }): Promise<any> => {
    const found: any = {};
    for (const sku of skus) {
      const part = await partBySku(ctx, sku);
      found[sku] = part && { sku, name: part.name, cents: part.cents, stock: part.stock };
    }
    return found;
  },
});

/** What a supplier has delivered. Parts that are not counted stay so. All or nothing. */
export const deliver = internalMutation({
  args: { items: v.any() },
  handler: async (ctx, { items }) => {
    for (const { sku, count } of items) {
      const part = await partBySku(ctx, sku);
      if (!part) throw fail("NOT_FOUND", { sku });
      if (part.stock !== null) await ctx.db.patch("parts", part._id, { stock: part.stock + count });
    }
    return items.length;
  },
});
