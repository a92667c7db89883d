import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";

/**
 * The author of a task has one point for every vote of somebody else for it, deleted or not. One's own votes count as votes,
 * but give no points.
 */
export async function voted(ctx: MutationCtx, task: Doc<"tasks">, voterId: Id<"members">, change: 1 | -1): Promise<void> {
  if (task.authorId === voterId) return;
  const author = await ctx.db.get("members", task.authorId);
  if (author !== null) await ctx.db.patch("members", author._id, { karma: (author.karma ?? 0) + change });
}
