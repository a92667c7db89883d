import { paginationOptsValidator } from "convex/server";
import { ConvexError, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx } from "./_generated/server";
import { status } from "./schema";

async function changeable(ctx: MutationCtx, orderId: Id<"orders">): Promise<Doc<"orders">> {
  const order = await ctx.db.get("orders", orderId);
  if (order === null) throw new Error("There is no such order");
  if (order.locked) throw new ConvexError(`order ${order.number} is locked`);
  return order;
}

/** By number, or the largest total first. */
export const list = query({
  args: {
    customerId: v.id("customers"),
    status: v.optional(status),
    sort: v.union(v.literal("number"), v.literal("total")),
    paginationOpts: paginationOptsValidator,
  },
  handler: async (ctx, { customerId, status, sort, paginationOpts }) => {
    const orders = ctx.db.query("orders");
    const sorted =
      status === undefined
        ? orders.withIndex(`by_${sort}`, (q) => q.eq("customerId", customerId))
        : orders.withIndex(`by_status_and_${sort}`, (q) => q.eq("customerId", customerId).eq("status", status));
    const result = await sorted.order(sort === "total" ? "desc" : "asc").paginate(paginationOpts);
    const page = result.page.map(({ _id, customerId, number, status, total, address }) => {
      return { orderId: _id, customerId, number, status, total, address };
    });
    return { ...result, page };
  },
});

export const setStatus = mutation({
  args: { orderId: v.id("orders"), status, remark: v.optional(v.string()) },
  handler: async (ctx, { orderId, status }) => {
    await changeable(ctx, orderId);
    await ctx.db.patch("orders", orderId, { status });
  },
});

/** Returns the new total. */
export const discount = mutation({
  args: { orderId: v.id("orders"), amount: v.number() },
  handler: async (ctx, { orderId, amount }) => {
    const order = await changeable(ctx, orderId);
    await ctx.db.patch("orders", orderId, { total: order.total - amount });
    return order.total - amount;
  },
});

export const remove = mutation({
  args: { orderId: v.id("orders") },
  handler: async (ctx, { orderId }) => {
    await changeable(ctx, orderId);
    await ctx.db.delete("orders", orderId);
  },
});
