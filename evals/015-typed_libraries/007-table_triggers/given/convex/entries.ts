import { v } from "convex/values";
import { mutation } from "./functions";
import { entry } from "./schema";

export const add = mutation({
  args: { entry },
  returns: v.id("entries"),
  handler: async (ctx, args) => await ctx.db.insert("entries", args.entry),
});

export const put = mutation({
  args: { id: v.id("entries"), entry },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.replace("entries", args.id, args.entry);
    return null;
  },
});
