import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { action, internalMutation, internalQuery } from "./_generated/server";

export const getOrder = internalQuery({
  args: { orderId: v.id("orders") },
  handler: async (ctx, { orderId }) => await ctx.db.get("orders", orderId),
});

export const finish = internalMutation({
  args: {
    orderId: v.id("orders"),
    status: v.union(v.literal("paid"), v.literal("failed")),
    receipt: v.optional(v.string()),
  },
  handler: async (ctx, { orderId, status, receipt }) => {
    const order = await ctx.db.get("orders", orderId);
    if (order === null) {
      return null;
    }
    if (order.status !== "pending") {
      return order.status;
    }
    await ctx.db.patch("orders", orderId, {
      status,
      ...(receipt !== undefined && { receipt }),
    });
    return status;
  },
});

export const pay = action({
  args: { orderId: v.id("orders"), bankUrl: v.string() },
  handler: async (
    ctx,
    { orderId, bankUrl },
  ): Promise<Doc<"orders">["status"] | null> => {
    const order = await ctx.runQuery(internal.index.getOrder, { orderId });
    if (order === null) {
      throw new ConvexError({ code: "ORDER_NOT_FOUND" });
    }
    if (order.status !== "pending") {
      return order.status;
    }
    const response = await fetch(bankUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ orderId, amount: order.amount }),
    });
    if (!response.ok) {
      return await ctx.runMutation(internal.index.finish, {
        orderId,
        status: "failed",
      });
    }
    return await ctx.runMutation(internal.index.finish, {
      orderId,
      status: "paid",
      receipt: await response.text(),
    });
  },
});
