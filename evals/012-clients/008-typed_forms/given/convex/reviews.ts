import { ConvexError } from "convex/values";
import { reviewArgs } from "./args";
import { mutation, query } from "./_generated/server";

/** Oldest first. */
export const list = query({
  args: {},
  handler: async (ctx) => await ctx.db.query("reviews").collect(),
});

export const add = mutation({
  args: reviewArgs,
  handler: async (ctx, args) => {
    const former = await ctx.db
      .query("reviews")
      .withIndex("by_request", (q) => q.eq("requestId", args.requestId))
      .unique();
    if (former !== null) return former._id;
    if ((await ctx.db.get("orders", args.orderId)) === null) {
      throw new ConvexError({ path: "orderId", message: "No such order" });
    }
    return await ctx.db.insert("reviews", args);
  },
});
