import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";
import { addUnread } from "./counters";

/**
 * A member has at most one unread notification of a kind about a task: if the same happens again, it counts up and names the
 * latest actor. Nobody is notified of what they do themselves, and deactivated members are not notified at all.
 */
export async function notify(
  ctx: MutationCtx,
  memberId: Id<"members">,
  kind: Doc<"notifications">["kind"],
  taskId: Id<"tasks">,
  actorId: Id<"members">,
): Promise<void> {
  const member = await ctx.db.get("members", memberId);
  if (member === null || !member.active || memberId === actorId) return;
  const unread = await ctx.db
    .query("notifications")
    .withIndex("by_subject", (q) =>
      q.eq("memberId", memberId).eq("taskId", taskId).eq("kind", kind).eq("read", false),
    )
    .unique();
  if (unread === null) {
    await ctx.db.insert("notifications", { memberId, kind, taskId, actorId, times: 1, read: false });
  } else {
    await ctx.db.patch("notifications", unread._id, { times: unread.times + 1, actorId });
  }
  await addUnread(ctx, memberId, 1);
}
