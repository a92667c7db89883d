import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { query } from "./_generated/server";

export const latestMentions = query({
  args: { channel: v.string(), name: v.string(), limit: v.number() },
  handler: async (ctx, args) => {
    const mentions: Doc<"messages">[] = [];
    const newestFirst = ctx.db
      .query("messages")
      .withIndex("by_channel", (q) => q.eq("channel", args.channel))
      .order("desc");
    for await (const message of newestFirst) {
      if (mentions.length >= args.limit) {
        break;
      }
      if (message.body.split(" ").includes(`@${args.name}`)) {
        mentions.push(message);
      }
    }
    return mentions;
  },
});
