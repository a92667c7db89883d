import { internal } from "../_generated/api";
import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";
import { accessOf } from "./access";
import { recount } from "./counters";
import { existing } from "./errors";
import { MAX_PINS, pinsOf } from "../pins";

type Pair = { kept: Doc<"members">; keepId: Id<"members">; duplicateId: Id<"members"> };

/** Gives everything that a member has to another one. What both of them have is left with the one that is kept. */
export async function handOver(ctx: MutationCtx, kept: Doc<"members">, duplicate: Doc<"members">): Promise<void> {
  const pair = { kept, keepId: kept._id, duplicateId: duplicate._id };
  await mergeAliases(ctx, pair, duplicate);
  await mergeTeams(ctx, pair);
  await mergeProjects(ctx, pair);
  const tasks = await tasksOf(ctx, kept.workspaceId);
  for (const task of tasks) await mergeTask(ctx, pair, task);
  await mergeVotes(ctx, pair);
  await mergeWatchers(ctx, pair);
  await mergeReactions(ctx, pair);
  await mergeNotifications(ctx, pair);
  await mergeTime(ctx, pair);
  await mergePins(ctx, pair);
  await mergeReminders(ctx, pair);
  const karma = await karmaOf(ctx, pair);
  await ctx.db.patch("members", pair.keepId, { karma });
  await ctx.db.patch("members", pair.duplicateId, { karma: 0 });
}

async function mergeAliases(ctx: MutationCtx, { keepId, duplicateId }: Pair, duplicate: Doc<"members">): Promise<void> {
  const aliases = await ctx.db
    .query("aliases")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id } of aliases) await ctx.db.patch("aliases", _id, { memberId: keepId });
  const { workspaceId, email } = duplicate;
  await ctx.db.insert("aliases", { workspaceId, email, memberId: keepId });
}

async function mergeTeams(ctx: MutationCtx, { kept, keepId, duplicateId }: Pair): Promise<void> {
  const memberships = await ctx.db
    .query("teamMembers")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id, teamId } of memberships) {
    const own = await ctx.db
      .query("teamMembers")
      .withIndex("by_team", (q) => q.eq("teamId", teamId).eq("memberId", keepId))
      .unique();
    if (own === null) {
      await ctx.db.patch("teamMembers", _id, { memberId: keepId });
    } else {
      await ctx.db.delete("teamMembers", _id);
      const team = existing(await ctx.db.get("teams", teamId));
      await ctx.db.patch("teams", teamId, { size: team.size - 1 });
    }
  }
  const teams = await ctx.db
    .query("teams")
    .withIndex("by_workspace", (q) => q.eq("workspaceId", kept.workspaceId))
    .collect();
  for (const team of teams) {
    if (team.leadId === duplicateId) await ctx.db.patch("teams", team._id, { leadId: keepId });
  }
}

async function mergeProjects(ctx: MutationCtx, { keepId, duplicateId }: Pair): Promise<void> {
  const owned = await ctx.db
    .query("projects")
    .withIndex("by_owner", (q) => q.eq("ownerId", duplicateId))
    .collect();
  for (const { _id } of owned) await ctx.db.patch("projects", _id, { ownerId: keepId });
  const shared = await ctx.db
    .query("access")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id, projectId } of shared) {
    if ((await accessOf(ctx, projectId, keepId)) !== null) await ctx.db.delete("access", _id);
    else await ctx.db.patch("access", _id, { memberId: keepId });
  }
}

/** All tasks of a workspace, deleted ones too. */
async function tasksOf(ctx: MutationCtx, workspaceId: Id<"workspaces">): Promise<Doc<"tasks">[]> {
  const projects = await ctx.db
    .query("projects")
    .withIndex("by_workspace", (q) => q.eq("workspaceId", workspaceId))
    .collect();
  const tasks = projects.map(
    async ({ _id }) =>
      await ctx.db
        .query("tasks")
        .withIndex("by_project", (q) => q.eq("projectId", _id))
        .collect(),
  );
  return (await Promise.all(tasks)).flat();
}

function replaced(ids: Id<"members">[], { keepId, duplicateId }: Pair): Id<"members">[] {
  return [...new Set(ids.map((id) => (id === duplicateId ? keepId : id)))];
}

async function mergeTask(ctx: MutationCtx, pair: Pair, task: Doc<"tasks">): Promise<void> {
  const { kept, keepId, duplicateId } = pair;
  if (task.authorId === duplicateId) {
    await ctx.db.patch("tasks", task._id, { authorId: keepId, authorName: kept.name });
  }
  if (task.assigneeIds.includes(duplicateId)) {
    await ctx.db.patch("tasks", task._id, { assigneeIds: replaced(task.assigneeIds, pair) });
    await recount(ctx, task, existing(await ctx.db.get("tasks", task._id)));
  }
  const comments = await ctx.db
    .query("comments")
    .withIndex("by_task", (q) => q.eq("taskId", task._id))
    .collect();
  for (const comment of comments) {
    if (comment.authorId === duplicateId) {
      await ctx.db.patch("comments", comment._id, { authorId: keepId, authorName: kept.name });
    }
    if (comment.mentions.includes(duplicateId)) {
      await ctx.db.patch("comments", comment._id, { mentions: replaced(comment.mentions, pair) });
    }
  }
}

/** A vote that is dropped is a point less for the author, if that is somebody else; for the kept account see `karmaOf`. */
async function mergeVotes(ctx: MutationCtx, { keepId, duplicateId }: Pair): Promise<void> {
  const votes = await ctx.db
    .query("votes")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id, taskId } of votes) {
    const own = await ctx.db
      .query("votes")
      .withIndex("by_task", (q) => q.eq("taskId", taskId).eq("memberId", keepId))
      .unique();
    if (own === null) {
      await ctx.db.patch("votes", _id, { memberId: keepId });
      continue;
    }
    await ctx.db.delete("votes", _id);
    const task = existing(await ctx.db.get("tasks", taskId));
    await ctx.db.patch("tasks", taskId, { votes: task.votes - 1 });
    const author = existing(await ctx.db.get("members", task.authorId));
    if (author._id !== keepId) await ctx.db.patch("members", author._id, { karma: (author.karma ?? 0) - 1 });
  }
}

async function karmaOf(ctx: MutationCtx, { keepId }: Pair): Promise<number> {
  const tasks = await ctx.db
    .query("tasks")
    .withIndex("by_author", (q) => q.eq("authorId", keepId))
    .collect();
  let karma = 0;
  for (const { _id } of tasks) {
    const votes = await ctx.db
      .query("votes")
      .withIndex("by_task", (q) => q.eq("taskId", _id))
      .collect();
    karma += votes.filter(({ memberId }) => memberId !== keepId).length;
  }
  return karma;
}

async function mergeWatchers(ctx: MutationCtx, { keepId, duplicateId }: Pair): Promise<void> {
  const watched = await ctx.db
    .query("watchers")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id, taskId } of watched) {
    const own = await ctx.db
      .query("watchers")
      .withIndex("by_task", (q) => q.eq("taskId", taskId).eq("memberId", keepId))
      .unique();
    if (own !== null) await ctx.db.delete("watchers", _id);
    else await ctx.db.patch("watchers", _id, { memberId: keepId });
  }
}

async function mergeReactions(ctx: MutationCtx, { keepId, duplicateId }: Pair): Promise<void> {
  const reactions = await ctx.db
    .query("reactions")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id, commentId, emoji } of reactions) {
    const own = await ctx.db
      .query("reactions")
      .withIndex("by_comment", (q) => q.eq("commentId", commentId).eq("memberId", keepId).eq("emoji", emoji))
      .unique();
    if (own === null) {
      await ctx.db.patch("reactions", _id, { memberId: keepId });
    } else {
      await ctx.db.delete("reactions", _id);
      const comment = existing(await ctx.db.get("comments", commentId));
      const count = (comment.reactions[emoji] ?? 0) - 1;
      await ctx.db.patch("comments", commentId, { reactions: { ...comment.reactions, [emoji]: count } });
    }
  }
}

async function mergeNotifications(ctx: MutationCtx, { keepId, duplicateId }: Pair): Promise<void> {
  const caused = await ctx.db
    .query("notifications")
    .withIndex("by_actor", (q) => q.eq("actorId", duplicateId))
    .collect();
  for (const { _id } of caused) await ctx.db.patch("notifications", _id, { actorId: keepId });
  const received = await ctx.db
    .query("notifications")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id, taskId, kind, read, times } of received) {
    const own = read
      ? null
      : await ctx.db
          .query("notifications")
          .withIndex("by_subject", (q) =>
            q.eq("memberId", keepId).eq("taskId", taskId).eq("kind", kind).eq("read", false),
          )
          .unique();
    if (own === null) {
      await ctx.db.patch("notifications", _id, { memberId: keepId });
    } else {
      await ctx.db.patch("notifications", own._id, { times: own.times + times });
      await ctx.db.delete("notifications", _id);
    }
  }
  const [kept, duplicate] = [await ctx.db.get("members", keepId), await ctx.db.get("members", duplicateId)];
  await ctx.db.patch("members", keepId, { unread: existing(kept).unread + existing(duplicate).unread });
  await ctx.db.patch("members", duplicateId, { unread: 0 });
}

/** What one of the two has approved for the other is no longer approved, because nobody approves their own sheet. */
async function mergeTime(ctx: MutationCtx, { keepId, duplicateId }: Pair): Promise<void> {
  const entries = await ctx.db
    .query("timeEntries")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id } of entries) await ctx.db.patch("timeEntries", _id, { memberId: keepId });
  for (const approverId of [keepId, duplicateId]) {
    const approved = await ctx.db
      .query("timesheets")
      .withIndex("by_approver", (q) => q.eq("approvedBy", approverId))
      .collect();
    for (const { _id, memberId } of approved) {
      const isOwn = memberId === keepId || memberId === duplicateId;
      await ctx.db.patch("timesheets", _id, { approvedBy: isOwn ? undefined : keepId });
    }
  }
  const sheets = await ctx.db
    .query("timesheets")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id, month, minutes, approvedBy } of sheets) {
    const own = await ctx.db
      .query("timesheets")
      .withIndex("by_member", (q) => q.eq("memberId", keepId).eq("month", month))
      .unique();
    if (own === null) {
      await ctx.db.patch("timesheets", _id, { memberId: keepId });
    } else {
      const approver = approvedBy === undefined ? undefined : own.approvedBy;
      await ctx.db.patch("timesheets", own._id, { minutes: own.minutes + minutes, approvedBy: approver });
      await ctx.db.delete("timesheets", _id);
    }
  }
}

async function mergePins(ctx: MutationCtx, { keepId, duplicateId }: Pair): Promise<void> {
  const pinned = await pinsOf(ctx, keepId);
  const taskIds = new Set(pinned.map(({ taskId }) => taskId));
  for (const { _id, taskId } of await pinsOf(ctx, duplicateId)) {
    if (taskIds.has(taskId) || taskIds.size >= MAX_PINS) {
      await ctx.db.delete("pins", _id);
    } else {
      await ctx.db.patch("pins", _id, { memberId: keepId, position: taskIds.size });
      taskIds.add(taskId);
    }
  }
}

/** The jobs name the member, so they are replaced, too. */
async function mergeReminders(ctx: MutationCtx, { keepId, duplicateId }: Pair): Promise<void> {
  const reminders = await ctx.db
    .query("reminders")
    .withIndex("by_member", (q) => q.eq("memberId", duplicateId))
    .collect();
  for (const { _id, taskId, at, jobId: formerId } of reminders) {
    await ctx.scheduler.cancel(formerId);
    const own = await ctx.db
      .query("reminders")
      .withIndex("by_member", (q) => q.eq("memberId", keepId).eq("taskId", taskId))
      .unique();
    if (own !== null) {
      await ctx.db.delete("reminders", _id);
    } else {
      const jobId = await ctx.scheduler.runAt(at, internal.reminders.deliver, { memberId: keepId, taskId });
      await ctx.db.patch("reminders", _id, { memberId: keepId, jobId });
    }
  }
}
