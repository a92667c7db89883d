import { v } from "convex/values";
import { query } from "./_generated/server";

export const getTimeWorked = query({
  args: { person: v.string() },
  handler: async (ctx, args) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_person", (q) => q.eq("person", args.person))
      .collect();
    const total = entries.reduce((sum, entry) => sum + (entry.endedAt - entry.startedAt), 0);
    return total / 60000;
  },
});
