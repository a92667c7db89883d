import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

export const tick = internalMutation({
  args: { source: v.string() },
  handler: async (ctx, { source }) => {
    await ctx.db.insert("ticks", { source });
    return null;
  },
});

export const cleanUp = internalMutation({
  args: {},
  handler: async (ctx) => {
    const ticks = await ctx.db.query("ticks").collect();
    for (const { _id } of ticks) {
      await ctx.db.delete("ticks", _id);
    }
    return ticks.length;
  },
});
