import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";
import { isLive } from "./trash";

/**
 * Numbers that are kept so that nobody has to count:
 *
 * - `workspaces.activeMembers`: its active members
 * - `members.openTasks`: open tasks, not deleted, of which the member is an assignee
 * - `members.unread`: the sum of `times` of the member's unread notifications, also those about deleted tasks
 * - `members.karma`: see karma.ts
 * - `teams.size`: its team members
 * - `projects.openTasks`: its open tasks that are not deleted
 * - `tasks.votes`, `tasks.comments` (those not deleted), `tasks.minutes` (of its time entries)
 * - `comments.reactions`: by emoji
 * - `timesheets.minutes`: of the member's time entries of the month, also those of deleted tasks; no sheet without entries
 */
export async function addOpenTasks(ctx: MutationCtx, memberId: Id<"members">, change: number): Promise<void> {
  const member = await ctx.db.get("members", memberId);
  if (member !== null && change !== 0) await ctx.db.patch("members", memberId, { openTasks: member.openTasks + change });
}

export async function addUnread(ctx: MutationCtx, memberId: Id<"members">, change: number): Promise<void> {
  const member = await ctx.db.get("members", memberId);
  if (member !== null && change !== 0) await ctx.db.patch("members", memberId, { unread: member.unread + change });
}

export function countsAsOpen(task: Doc<"tasks">): boolean {
  return isLive(task) && task.state === "open";
}

/** Call it after every change of a task's state, assignees or deletion, with the task before and after. */
export async function recount(ctx: MutationCtx, before: Doc<"tasks"> | null, after: Doc<"tasks">): Promise<void> {
  const was = before !== null && countsAsOpen(before) ? before.assigneeIds : [];
  const is = countsAsOpen(after) ? after.assigneeIds : [];
  for (const memberId of was) if (!is.includes(memberId)) await addOpenTasks(ctx, memberId, -1);
  for (const memberId of is) if (!was.includes(memberId)) await addOpenTasks(ctx, memberId, +1);
  const change = Number(countsAsOpen(after)) - Number(before !== null && countsAsOpen(before));
  if (change !== 0) {
    const project = await ctx.db.get("projects", after.projectId);
    if (project !== null) await ctx.db.patch("projects", project._id, { openTasks: project.openTasks + change });
  }
}
