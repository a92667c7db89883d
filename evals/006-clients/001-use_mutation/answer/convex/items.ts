import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";

const MOST_ITEMS = 5;

export const list = query({
  args: {},
  handler: async (ctx) => {
    return await ctx.db.query("items").collect();
  },
});

export const add = mutation({
  args: { name: v.string() },
  handler: async (ctx, args) => {
    const name = args.name.trim();
    if (name === "") {
      throw new ConvexError("Enter a name.");
    }
    const items = await ctx.db.query("items").take(MOST_ITEMS);
    if (items.length === MOST_ITEMS) {
      throw new ConvexError("The list is full.");
    }
    return await ctx.db.insert("items", { name });
  },
});
