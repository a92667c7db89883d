import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { failure, requireStaff } from "./access";
import { isClosed, isDate } from "./calendar";

const ALWAYS = "0000-01-01";

function isPrice(cents: number) {
  return Number.isInteger(cents) && cents > 0;
}

export async function requireProduct(ctx: QueryCtx, productId: Id<"products">) {
  const product = await ctx.db.get("products", productId);
  if (product === null) throw failure("NOT_FOUND");
  return product;
}

/** What one piece costs if it is delivered on a date. */
export async function priceOn(ctx: QueryCtx, productId: Id<"products">, date: string) {
  const price = await ctx.db
    .query("prices")
    .withIndex("by_product", (q) => q.eq("productId", productId).lte("from", date))
    .order("desc")
    .first();
  return price?.cents ?? 0;
}

export const add = mutation({
  args: { name: v.string(), cents: v.number() },
  returns: v.id("products"),
  handler: async (ctx, { name, cents }) => {
    await requireStaff(ctx);
    if (name === "" || !isPrice(cents)) throw failure("INVALID");
    const known = await ctx.db
      .query("products")
      .withIndex("by_name", (q) => q.eq("name", name))
      .unique();
    if (known !== null) throw failure("NAME_TAKEN");
    const productId = await ctx.db.insert("products", { name });
    await ctx.db.insert("prices", { productId, from: ALWAYS, cents });
    return productId;
  },
});

export const announce = mutation({
  args: { productId: v.id("products"), cents: v.number(), from: v.string() },
  returns: v.null(),
  handler: async (ctx, { productId, cents, from }) => {
    await requireStaff(ctx);
    await requireProduct(ctx, productId);
    if (!isPrice(cents) || !isDate(from)) throw failure("INVALID");
    if (isClosed(from)) throw failure("CLOSED");
    const known = await ctx.db
      .query("prices")
      .withIndex("by_product", (q) => q.eq("productId", productId).eq("from", from))
      .unique();
    if (known === null) await ctx.db.insert("prices", { productId, from, cents });
    else await ctx.db.patch("prices", known._id, { cents });
    return null;
  },
});

export const list = query({
  args: { date: v.string() },
  returns: v.array(v.object({ productId: v.id("products"), name: v.string(), cents: v.number() })),
  handler: async (ctx, { date }) => {
    if (!isDate(date)) throw failure("INVALID");
    const products = await ctx.db.query("products").withIndex("by_name").collect();
    return await Promise.all(
      products.map(async ({ _id: productId, name }) => {
        return { productId, name, cents: await priceOn(ctx, productId, date) };
      }),
    );
  },
});
