import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";

export const create = mutation({
  args: {
    title: v.string(),
    priceCents: v.number(),
    tags: v.optional(v.array(v.string())),
  },
  handler: async (ctx, { title, priceCents, tags }) => {
    return await ctx.db.insert("products", {
      title,
      priceCents,
      tags: tags ?? [],
    });
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const products = await ctx.db.query("products").collect();
    return products.map((product) => ({
      _id: product._id,
      ...inNewShape(product),
    }));
  },
});

export const migrate = internalMutation({
  args: { limit: v.number() },
  handler: async (ctx, { limit }) => {
    const products = await ctx.db
      .query("products")
      .filter((q) => q.neq(q.field("price"), undefined))
      .take(limit);
    for (const product of products) {
      await ctx.db.replace("products", product._id, inNewShape(product));
    }
    return products.length;
  },
});

function inNewShape(product: Doc<"products">) {
  const { title } = product;
  if ("price" in product) {
    return { title, priceCents: Math.round(product.price * 100), tags: [] };
  }
  return { title, priceCents: product.priceCents, tags: product.tags };
}
