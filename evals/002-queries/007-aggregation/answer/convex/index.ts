import { v } from "convex/values";
import { query } from "./_generated/server";

export const getOrderStatistics = query({
  args: { customer: v.string() },
  handler: async (ctx, args) => {
    const orders = await ctx.db
      .query("orders")
      .withIndex("by_customer", (q) => q.eq("customer", args.customer))
      .collect();
    const amounts = orders.map((order) => order.amount);
    const total = amounts.reduce((sum, amount) => sum + amount, 0);
    if (amounts.length === 0) {
      return { count: 0, total, average: null, smallest: null, largest: null };
    }
    return {
      count: amounts.length,
      total,
      average: total / amounts.length,
      smallest: Math.min(...amounts),
      largest: Math.max(...amounts),
    };
  },
});
