import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx } from "./_generated/server";
import { actor, colleague, taskFor } from "./lib/access";
import { log } from "./lib/activity";
import { existing, fail } from "./lib/errors";
import { notify } from "./lib/notify";
import { isLive, liveComment, liveTask } from "./lib/trash";
import { ensureWatching } from "./watchers";

async function addComments(ctx: MutationCtx, taskId: Id<"tasks">, change: number): Promise<void> {
  const task = existing(await ctx.db.get("tasks", taskId));
  await ctx.db.patch("tasks", taskId, { comments: task.comments + change });
}

/** Those who are mentioned learn of it once, the other watchers of the comment. */
async function tellOthers(ctx: MutationCtx, comment: Doc<"comments">): Promise<void> {
  for (const memberId of comment.mentions) {
    await notify(ctx, memberId, "mentioned", comment.taskId, comment.authorId);
  }
  const watchers = await ctx.db
    .query("watchers")
    .withIndex("by_task", (q) => q.eq("taskId", comment.taskId))
    .collect();
  for (const { memberId, muted } of watchers) {
    if (muted || comment.mentions.includes(memberId)) continue;
    await notify(ctx, memberId, "commented", comment.taskId, comment.authorId);
  }
}

/** Nobody is mentioned twice. */
export const add = mutation({
  args: {
    actorId: v.id("members"),
    taskId: v.id("tasks"),
    body: v.string(),
    mentions: v.array(v.id("members")),
  },
  handler: async (ctx, { actorId, taskId, body, mentions }) => {
    const acting = await actor(ctx, actorId);
    const task = await taskFor(ctx, acting, taskId, "read");
    for (const memberId of mentions) await colleague(ctx, acting, memberId);
    const commentId = await ctx.db.insert("comments", {
      taskId,
      authorId: actorId,
      authorName: acting.name,
      body,
      mentions: [...new Set(mentions)],
      reactions: {},
    });
    await addComments(ctx, taskId, +1);
    await ensureWatching(ctx, taskId, actorId);
    await tellOthers(ctx, existing(await ctx.db.get("comments", commentId)));
    await log(ctx, acting, "comment.add", task.title);
    return commentId;
  },
});

export const remove = mutation({
  args: { actorId: v.id("members"), commentId: v.id("comments") },
  handler: async (ctx, { actorId, commentId }) => {
    const acting = await actor(ctx, actorId);
    const comment = await liveComment(ctx, commentId);
    const task = await taskFor(ctx, acting, comment.taskId, "read");
    if (comment.authorId !== actorId) throw fail("FORBIDDEN");
    await ctx.db.patch("comments", commentId, { deletedAt: Date.now() });
    await addComments(ctx, comment.taskId, -1);
    await log(ctx, acting, "comment.remove", task.title);
    return null;
  },
});

export const restore = mutation({
  args: { actorId: v.id("members"), commentId: v.id("comments") },
  handler: async (ctx, { actorId, commentId }) => {
    const acting = await actor(ctx, actorId);
    const comment = existing(await ctx.db.get("comments", commentId));
    await liveTask(ctx, comment.taskId);
    const task = await taskFor(ctx, acting, comment.taskId, "read");
    if (comment.authorId !== actorId) throw fail("FORBIDDEN");
    if (isLive(comment)) return null;
    await ctx.db.patch("comments", commentId, { deletedAt: undefined });
    await addComments(ctx, comment.taskId, +1);
    await log(ctx, acting, "comment.restore", task.title);
    return null;
  },
});

/** Oldest first. */
export const list = query({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    await taskFor(ctx, await actor(ctx, actorId), taskId, "read");
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_task", (q) => q.eq("taskId", taskId))
      .collect();
    return comments.filter(isLive).map(({ _id, authorName, body, mentions, reactions }) => {
      return { commentId: _id, author: authorName, body, mentions, reactions };
    });
  },
});
