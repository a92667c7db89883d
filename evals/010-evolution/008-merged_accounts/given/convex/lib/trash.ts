import type { Doc, Id } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";
import { existing, fail } from "./errors";

/**
 * Tasks and comments are never deleted from the database, because they can be restored. Whoever reads them must leave out
 * those with `deletedAt`, and counters do not count them. What belongs to them (votes, watchers, reactions, pins …) stays.
 */
export function isLive(document: Doc<"tasks"> | Doc<"comments">): boolean {
  return document.deletedAt === undefined;
}

export async function liveTask(ctx: QueryCtx, taskId: Id<"tasks">): Promise<Doc<"tasks">> {
  const task = existing(await ctx.db.get("tasks", taskId));
  if (!isLive(task)) throw fail("NOT_FOUND");
  return task;
}

export async function liveComment(ctx: QueryCtx, commentId: Id<"comments">): Promise<Doc<"comments">> {
  const comment = existing(await ctx.db.get("comments", commentId));
  if (!isLive(comment)) throw fail("NOT_FOUND");
  await liveTask(ctx, comment.taskId);
  return comment;
}
