import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { caller, exists, isLoaded, refuse } from "./calendar";

export async function costOn(ctx: QueryCtx, productId: Id<"products">, day: string) {
  const costs = (await ctx.db.query("costs").collect()).filter((each) => each.productId === productId);
  let best = { day: "", cents: 0 };
  for (const each of costs) if (each.day <= day && each.day >= best.day) best = each;
  return best.cents;
}

export const add = mutation({
  args: { name: v.string(), cents: v.number() },
  handler: async (ctx, { name, cents }) => {
    await caller(ctx, "staff");
    if (name.length === 0 || cents < 1 || cents % 1 !== 0) refuse("INVALID");
    for await (const each of ctx.db.query("products")) if (each.name === name) refuse("NAME_TAKEN");
    const productId = await ctx.db.insert("products", { name });
    await ctx.db.insert("costs", { productId, cents, day: "" });
    return productId;
  },
});

export const announce = mutation({
  args: { productId: v.id("products"), cents: v.number(), from: v.string() },
  handler: async (ctx, { productId, cents, from }) => {
    await caller(ctx, "staff");
    if ((await ctx.db.get("products", productId)) === null) refuse("NOT_FOUND");
    if (cents < 1 || cents % 1 !== 0 || !exists(from)) refuse("INVALID");
    if (isLoaded(from)) refuse("CLOSED");
    await ctx.db.insert("costs", { productId, cents, day: from });
    return null;
  },
});

export const list = query({
  args: { date: v.string() },
  handler: async (ctx, { date }) => {
    if (!exists(date)) refuse("INVALID");
    const rows = [];
    for (const { _id, name } of await ctx.db.query("products").collect()) {
      rows.push({ name, productId: _id, cents: await costOn(ctx, _id, date) });
    }
    return rows.sort((one, other) => Number(one.name > other.name) - Number(one.name < other.name));
  },
});
