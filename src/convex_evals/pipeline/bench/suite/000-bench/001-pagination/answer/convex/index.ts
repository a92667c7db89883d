import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { ranks: v.array(v.number()) },
  handler: async (ctx, args) => {
    await Promise.all(args.ranks.map((rank) => ctx.db.insert("items", { rank })));
  },
});

export const page = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => await ctx.db.query("items").withIndex("by_rank").paginate(args.paginationOpts),
});
