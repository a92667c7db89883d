import { v } from "convex/values";
import { internalMutation, query } from "./_generated/server";

/** What background work leaves behind. */
export const record = internalMutation({
  args: { topic: v.string(), text: v.string() },
  handler: async (ctx, event) => {
    await ctx.db.insert("events", event);
  },
});

export const list = query({
  args: { topic: v.string() },
  handler: async (ctx, { topic }) => {
    const found = await ctx.db.query("events").withIndex("by_topic", (q) => q.eq("topic", topic)).collect();
    return found.map((event) => event.text);
  },
});
