import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";

export const remind = mutation({
  args: { text: v.string(), minutes: v.number() },
  handler: async (ctx, args) => {
    const reminder = await ctx.db.insert("reminders", { text: args.text, sent: false });
    await ctx.scheduler.runAfter(args.minutes * 60_000, internal.index.markSent, { reminder });
  },
});

export const markSent = internalMutation({
  args: { reminder: v.id("reminders") },
  handler: async (ctx, args) => {
    await ctx.db.patch(args.reminder, { sent: true });
  },
});

export const listReminders = query({
  args: { limit: v.optional(v.number()) },
  handler: async (ctx, args) => {
    const reminders = await ctx.db.query("reminders").order("desc").take(args.limit ?? 10);
    return reminders.map((reminder) => reminder.text);
  },
});
