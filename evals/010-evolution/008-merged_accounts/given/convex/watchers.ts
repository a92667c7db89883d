import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { actor, taskFor } from "./lib/access";

async function watching(ctx: QueryCtx, taskId: Id<"tasks">, memberId: Id<"members">) {
  return await ctx.db
    .query("watchers")
    .withIndex("by_task", (q) => q.eq("taskId", taskId).eq("memberId", memberId))
    .unique();
}

/** Whoever has muted a task keeps it muted. */
export async function ensureWatching(ctx: MutationCtx, taskId: Id<"tasks">, memberId: Id<"members">): Promise<void> {
  if ((await watching(ctx, taskId, memberId)) === null) {
    await ctx.db.insert("watchers", { taskId, memberId, muted: false });
  }
}

/** Watches a task, mutes it, or does neither any longer (`null`). */
export const set = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks"), muted: v.union(v.boolean(), v.null()) },
  handler: async (ctx, { actorId, taskId, muted }) => {
    await taskFor(ctx, await actor(ctx, actorId), taskId, "read");
    const watcher = await watching(ctx, taskId, actorId);
    if (watcher !== null && muted === null) await ctx.db.delete("watchers", watcher._id);
    else if (watcher !== null && muted !== null) await ctx.db.patch("watchers", watcher._id, { muted });
    else if (muted !== null) await ctx.db.insert("watchers", { taskId, memberId: actorId, muted });
    return null;
  },
});

/** How the actor watches a task: `null` if not at all. */
export const get = query({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    await taskFor(ctx, await actor(ctx, actorId), taskId, "read");
    const watcher = await watching(ctx, taskId, actorId);
    return watcher === null ? null : { muted: watcher.muted };
  },
});
