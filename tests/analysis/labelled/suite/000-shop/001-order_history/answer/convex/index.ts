import { v } from "convex/values";
import { query } from "./_generated/server";

export const ordersSince = query({
  args: { customer: v.string(), time: v.number() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("orders")
      .withIndex("by_customer_and_time", (q) => q.eq("customer", args.customer).gte("placedAt", args.time))
      .order("desc")
      .collect();
  },
});
