import { v } from "convex/values";
import { query } from "./_generated/server";
import { staffOf } from "./lib/orders";

export const daily = query({
  args: { staffId: v.id("staff"), day: v.string() },
  handler: async (ctx, { staffId, day }) => {
    await staffOf(ctx, staffId);
    const report = await ctx.db
      .query("dailySales")
      .withIndex("by_day", (q) => q.eq("day", day))
      .unique();
    const { orders, units, amount, tax } = report ?? { orders: 0, units: 0, amount: 0, tax: 0 };
    return { orders, units, amount, tax };
  },
});

/** What other systems have not been told yet, oldest first. */
export const outbox = query({
  args: { staffId: v.id("staff") },
  handler: async (ctx, { staffId }) => {
    await staffOf(ctx, staffId);
    const events = await ctx.db.query("outbox").collect();
    return events.map(({ type, orderId, amount }) => ({ type, orderId, amount }));
  },
});
