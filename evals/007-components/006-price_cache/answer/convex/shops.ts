import { ActionCache } from "@convex-dev/action-cache";
import { ConvexError, v } from "convex/values";
import { components, internal } from "./_generated/api";
import { action, internalAction, mutation } from "./_generated/server";

const MINUTE = 60_000;
const item = { shop: v.string(), item: v.string() };

const prices = new ActionCache(components.actionCache, {
  action: internal.shops.fetchPrice,
  name: "prices",
  ttl: 10 * MINUTE,
});
const descriptions = new ActionCache(components.actionCache, {
  action: internal.shops.fetchDescription,
  name: "descriptions",
  ttl: 7 * 24 * 60 * MINUTE,
});

/**
 * A shorter time to live for one caller would be stored with the price and count for all others, so prices carry the
 * time at which they were fetched.
 */
export const price = action({
  args: { ...item, maxAge: v.optional(v.number()) },
  handler: async (ctx, { maxAge, ...args }): Promise<number> => {
    const oldest = Date.now() - (maxAge ?? Infinity) * 1000;
    const found = await prices.fetch(ctx, args);
    if (found.at >= oldest) return found.price;
    return (await prices.fetch(ctx, args, { force: true })).price;
  },
});

export const refresh = action({
  args: item,
  handler: async (ctx, args): Promise<number> => {
    return (await prices.fetch(ctx, args, { force: true })).price;
  },
});

export const description = action({
  args: item,
  handler: async (ctx, args): Promise<string> => {
    return await descriptions.fetch(ctx, args);
  },
});

export const forgetPrice = mutation({
  args: item,
  handler: async (ctx, args) => {
    await prices.remove(ctx, args);
    return null;
  },
});

export const forgetPrices = mutation({
  args: {},
  handler: async (ctx) => {
    await prices.removeAllForName(ctx);
    return null;
  },
});

export const fetchPrice = internalAction({
  args: item,
  handler: async (
    _ctx,
    { shop, item },
  ): Promise<{ price: number; at: number }> => {
    const at = Date.now();
    const response = await get(`${shop}/price/${item}`);
    const { price } = (await response.json()) as { price: number };
    return { price, at };
  },
});

export const fetchDescription = internalAction({
  args: item,
  handler: async (_ctx, { shop, item }): Promise<string> => {
    const response = await get(`${shop}/description/${item}`);
    return await response.text();
  },
});

async function get(url: string): Promise<Response> {
  let response;
  try {
    response = await fetch(url);
  } catch {
    throw new ConvexError({ code: "UNAVAILABLE" });
  }
  if (response.status !== 200) throw new ConvexError({ code: "UNAVAILABLE" });
  return response;
}
