import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  action,
  internalMutation,
  internalQuery,
  type QueryCtx,
} from "./_generated/server";

export const reprice = action({
  args: { productIds: v.array(v.id("products")), pricingUrl: v.string() },
  handler: async (
    ctx,
    { productIds, pricingUrl },
  ): Promise<{ name: string; price: number }[]> => {
    if (productIds.length === 0) {
      return [];
    }
    const products = await ctx.runQuery(internal.index.getProducts, {
      productIds,
    });
    const prices = await askForPrices(
      pricingUrl,
      products.map(({ price }) => price),
    );
    const updates = products.map(({ _id, name }, position) => ({
      productId: _id,
      name,
      price: prices[position],
    }));
    await ctx.runMutation(internal.index.setPrices, {
      updates: updates.map(({ productId, price }) => ({ productId, price })),
    });
    return updates.map(({ name, price }) => ({ name, price }));
  },
});

export const getProducts = internalQuery({
  args: { productIds: v.array(v.id("products")) },
  handler: async (ctx, { productIds }) => {
    return await Promise.all(productIds.map((id) => requireProduct(ctx, id)));
  },
});

export const setPrices = internalMutation({
  args: {
    updates: v.array(
      v.object({ productId: v.id("products"), price: v.number() }),
    ),
  },
  handler: async (ctx, { updates }) => {
    for (const { productId, price } of updates) {
      await requireProduct(ctx, productId);
      await ctx.db.patch("products", productId, { price });
    }
    return null;
  },
});

async function askForPrices(url: string, prices: number[]): Promise<number[]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ prices }),
  });
  if (!response.ok) {
    throw new ConvexError({ code: "NO_PRICES" });
  }
  const body = (await response.json()) as { prices: number[] };
  return body.prices;
}

async function requireProduct(
  ctx: QueryCtx,
  productId: Id<"products">,
): Promise<Doc<"products">> {
  const product = await ctx.db.get("products", productId);
  if (product === null) {
    throw new ConvexError({ code: "PRODUCT_NOT_FOUND" });
  }
  return product;
}
