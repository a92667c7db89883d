import { ConvexError, v } from "convex/values";
import { orderArgs } from "./args";
import { mutation, query } from "./_generated/server";

/** Oldest first. */
export const list = query({
  args: { shopId: v.id("shops") },
  handler: async (ctx, { shopId }) => {
    return await ctx.db
      .query("orders")
      .withIndex("by_shop", (q) => q.eq("shopId", shopId))
      .collect();
  },
});

function refuse(path: string, message: string): never {
  throw new ConvexError({ path, message });
}

/** Whoever repeats a request gets what the first one returned. */
export const place = mutation({
  args: orderArgs,
  handler: async (ctx, args) => {
    const former = await ctx.db
      .query("orders")
      .withIndex("by_request", (q) => q.eq("requestId", args.requestId))
      .unique();
    if (former !== null) return { orderId: former._id, lines: former.lines.length };
    const shop = await ctx.db.get("shops", args.shopId);
    if (shop === null) throw new Error("There is no such shop");
    if (shop.isClosed) throw new ConvexError(`${shop.name} is closed`);
    if (args.lines.length === 0) refuse("lines", "Nothing ordered");
    for (const [index, { amount, extras }] of args.lines.entries()) {
      if (amount > 9) refuse(`lines.${index}.amount`, `Only 9 left of ${args.lines[index]?.product}`);
      if (extras.includes("")) refuse(`lines.${index}.extras.${extras.indexOf("")}`, "Which one?");
    }
    if (args.gift?.to === args.customer.name) refuse("gift", "Not for yourself");
    if (args.payment.kind === "card" && args.payment.cardNumber === "") refuse("payment.cardNumber", "Number?");
    if (args.customer.name === "") refuse("customer.name", "Name is missing");
    // With such names, any error can be tried out.
    if (args.customer.name.startsWith("refuse ")) refuse(args.customer.name.slice("refuse ".length), "Refused");
    const orderId = await ctx.db.insert("orders", args);
    return { orderId, lines: args.lines.length };
  },
});

export const cancel = mutation({
  args: { orderId: v.id("orders") },
  handler: async (ctx, { orderId }) => {
    await ctx.db.delete("orders", orderId);
  },
});
