import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { actor } from "./lib/access";
import { addUnread } from "./lib/counters";
import { isLive } from "./lib/trash";

/** Unread ones, newest first. Those about deleted tasks are not shown, but stay unread. */
export const unread = query({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    const acting = await actor(ctx, actorId);
    const notifications = await ctx.db
      .query("notifications")
      .withIndex("by_member", (q) => q.eq("memberId", acting._id).eq("read", false))
      .order("desc")
      .collect();
    const found = [];
    for (const { kind, taskId, actorId: otherId, times } of notifications) {
      const task = await ctx.db.get("tasks", taskId);
      const other = await ctx.db.get("members", otherId);
      if (task === null || !isLive(task)) continue;
      found.push({ kind, taskId, title: task.title, actor: other?.name ?? null, times });
    }
    return found;
  },
});

export const readAll = mutation({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    const acting = await actor(ctx, actorId);
    const notifications = await ctx.db
      .query("notifications")
      .withIndex("by_member", (q) => q.eq("memberId", actorId).eq("read", false))
      .collect();
    for (const { _id } of notifications) await ctx.db.patch("notifications", _id, { read: true });
    await addUnread(ctx, actorId, -acting.unread);
    return null;
  },
});
