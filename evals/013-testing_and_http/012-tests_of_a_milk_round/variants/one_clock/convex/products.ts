import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import { boss, day, dayNumber, fail, open } from "./calendar";
import { wake } from "./invoices";

const whole = (cents: number) => Number.isSafeInteger(cents) && cents >= 1;

export function price(product: Doc<"products">, date: string) {
  const since = product.prices.filter(({ from }) => from <= date).map(({ from }) => from);
  const newest = since.sort().at(-1);
  return product.prices.find(({ from }) => from === newest)?.cents ?? 0;
}

export const add = mutation({
  args: { name: v.string(), cents: v.number() },
  handler: async (ctx, { name, cents }) => {
    await boss(ctx);
    if (!name || !whole(cents)) fail("INVALID");
    const all = await ctx.db.query("products").collect();
    if (all.some((each) => each.name === name)) fail("NAME_TAKEN");
    await wake(ctx);
    return await ctx.db.insert("products", { name, prices: [{ from: "", cents }] });
  },
});

export const announce = mutation({
  args: { productId: v.id("products"), cents: v.number(), from: v.string() },
  handler: async (ctx, { productId, cents, from }) => {
    await boss(ctx);
    const product = (await ctx.db.get("products", productId)) ?? fail("NOT_FOUND");
    if (!whole(cents) || dayNumber(from) === null) fail("INVALID");
    if (!open(from)) fail("CLOSED");
    const prices = product.prices.filter((each) => each.from !== from);
    await ctx.db.patch("products", productId, { prices: [...prices, { from, cents }] });
    return null;
  },
});

export const list = query({
  args: { date: v.string() },
  handler: async (ctx, { date }) => {
    day(date);
    const all = await ctx.db.query("products").collect();
    const rows = all.map((each) => ({ productId: each._id, name: each.name, cents: price(each, date) }));
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  },
});
