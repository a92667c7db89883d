import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const add = mutation({
  args: { value: v.number() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.insert("counts", { value: args.value });
    return null;
  },
});
