import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  type MutationCtx,
} from "./_generated/server";

export const remindAfter = mutation({
  args: { text: v.string(), delayMs: v.number() },
  handler: async (ctx, { text, delayMs }) => {
    const reminderId = await store(ctx, text);
    const jobId = await ctx.scheduler.runAfter(delayMs, internal.index.send, {
      reminderId,
    });
    await ctx.db.patch("reminders", reminderId, { jobId });
    return reminderId;
  },
});

export const remindAt = mutation({
  args: { text: v.string(), time: v.number() },
  handler: async (ctx, { text, time }) => {
    const reminderId = await store(ctx, text);
    const jobId = await ctx.scheduler.runAt(time, internal.index.send, {
      reminderId,
    });
    await ctx.db.patch("reminders", reminderId, { jobId });
    return reminderId;
  },
});

export const cancel = mutation({
  args: { reminderId: v.id("reminders") },
  handler: async (ctx, { reminderId }) => {
    const reminder = await ctx.db.get("reminders", reminderId);
    if (reminder === null || reminder.isSent) {
      return false;
    }
    if (reminder.jobId !== undefined) {
      await ctx.scheduler.cancel(reminder.jobId);
    }
    await ctx.db.delete("reminders", reminderId);
    return true;
  },
});

export const send = internalMutation({
  args: { reminderId: v.id("reminders") },
  handler: async (ctx, { reminderId }) => {
    if ((await ctx.db.get("reminders", reminderId)) !== null) {
      await ctx.db.patch("reminders", reminderId, { isSent: true });
    }
    return null;
  },
});

async function store(ctx: MutationCtx, text: string): Promise<Id<"reminders">> {
  if (text === "") {
    throw new Error("A reminder needs a text");
  }
  return await ctx.db.insert("reminders", { text, isSent: false });
}
