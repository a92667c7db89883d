import { v } from "convex/values";
import { query } from "./_generated/server";

export const getMessages = query({
  args: { channel: v.string(), author: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("messages")
      .withIndex("by_channel_and_author", (q) =>
        q.eq("channel", args.channel).eq("author", args.author),
      )
      .collect();
  },
});
