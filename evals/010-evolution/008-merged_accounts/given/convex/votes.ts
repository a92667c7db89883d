import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { actor, taskFor } from "./lib/access";
import { voted } from "./lib/karma";

async function voteOf(ctx: QueryCtx, taskId: Id<"tasks">, memberId: Id<"members">) {
  return await ctx.db
    .query("votes")
    .withIndex("by_task", (q) => q.eq("taskId", taskId).eq("memberId", memberId))
    .unique();
}

/** Votes are secret: they are not in the activity log, only their number is shown. */
export const vote = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    const acting = await actor(ctx, actorId);
    const task = await taskFor(ctx, acting, taskId, "read");
    if ((await voteOf(ctx, taskId, actorId)) !== null) return null;
    await ctx.db.insert("votes", { taskId, memberId: actorId });
    await ctx.db.patch("tasks", taskId, { votes: task.votes + 1 });
    await voted(ctx, task, actorId, +1);
    return null;
  },
});

export const withdraw = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    const acting = await actor(ctx, actorId);
    const task = await taskFor(ctx, acting, taskId, "read");
    const mine = await voteOf(ctx, taskId, actorId);
    if (mine === null) return null;
    await ctx.db.delete("votes", mine._id);
    await ctx.db.patch("tasks", taskId, { votes: task.votes - 1 });
    await voted(ctx, task, actorId, -1);
    return null;
  },
});

export const mine = query({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    await taskFor(ctx, await actor(ctx, actorId), taskId, "read");
    return (await voteOf(ctx, taskId, actorId)) !== null;
  },
});
