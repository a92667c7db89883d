import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalMutation, mutation, query, type QueryCtx } from "./_generated/server";
import { actor, taskFor } from "./lib/access";
import { addUnread } from "./lib/counters";
import { isLive } from "./lib/trash";

async function reminderOf(ctx: QueryCtx, memberId: Id<"members">, taskId: Id<"tasks">) {
  return await ctx.db
    .query("reminders")
    .withIndex("by_member", (q) => q.eq("memberId", memberId).eq("taskId", taskId))
    .unique();
}

/** A member has one reminder of a task. A new one replaces it. */
export const set = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks"), inMinutes: v.number() },
  handler: async (ctx, { actorId, taskId, inMinutes }) => {
    await taskFor(ctx, await actor(ctx, actorId), taskId, "read");
    const former = await reminderOf(ctx, actorId, taskId);
    if (former !== null) {
      await ctx.scheduler.cancel(former.jobId);
      await ctx.db.delete("reminders", former._id);
    }
    const at = Date.now() + inMinutes * 60_000;
    const jobId = await ctx.scheduler.runAt(at, internal.reminders.deliver, { memberId: actorId, taskId });
    await ctx.db.insert("reminders", { memberId: actorId, taskId, at, jobId });
    return null;
  },
});

/** A reminder comes as a notification of the member's own: they are told that they assigned themselves something to do. */
export const deliver = internalMutation({
  args: { memberId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { memberId, taskId }) => {
    const reminder = await reminderOf(ctx, memberId, taskId);
    if (reminder === null) return null;
    await ctx.db.delete("reminders", reminder._id);
    const task = await ctx.db.get("tasks", taskId);
    if (task === null || !isLive(task)) return null;
    const unread = await ctx.db
      .query("notifications")
      .withIndex("by_subject", (q) =>
        q.eq("memberId", memberId).eq("taskId", taskId).eq("kind", "assigned").eq("read", false),
      )
      .unique();
    if (unread !== null) await ctx.db.patch("notifications", unread._id, { times: unread.times + 1, actorId: memberId });
    else {
      const notification = { memberId, kind: "assigned" as const, taskId, actorId: memberId, times: 1, read: false };
      await ctx.db.insert("notifications", notification);
    }
    await addUnread(ctx, memberId, 1);
    return null;
  },
});

export const pending = query({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    await actor(ctx, actorId);
    const reminders = await ctx.db
      .query("reminders")
      .withIndex("by_member", (q) => q.eq("memberId", actorId))
      .collect();
    return reminders.map(({ taskId, at }) => ({ taskId, at })).sort((a, b) => a.at - b.at);
  },
});
