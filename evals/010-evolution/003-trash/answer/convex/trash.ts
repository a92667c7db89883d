import { ConvexError, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
} from "./_generated/server";
import { internal } from "./_generated/api";
import { notFound, requireFreeName } from "./lookups";

const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

export const list = query({
  args: {},
  handler: async (ctx) => {
    const deletions = await ctx.db
      .query("deletions")
      .withIndex("by_deleted_at")
      .order("desc")
      .collect();
    return deletions.map(({ kind, itemId, title, deletedAt }) => ({
      kind,
      id: itemId,
      title,
      deletedAt,
    }));
  },
});

export const restoreProject = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }) => {
    const deletion = await deletionOf(ctx, projectId);
    await requireFreeName(ctx, deletion.title);
    await restore(ctx, deletion._id);
    return null;
  },
});

export const restoreTask = mutation({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }) => {
    const deletion = await deletionOf(ctx, taskId);
    const task = await ctx.db.get("tasks", taskId);
    const project = task && (await ctx.db.get("projects", task.projectId));
    if (!project || project.deletionId) throw parentDeleted();
    const taskCount = project.taskCount + 1;
    await ctx.db.patch("projects", project._id, { taskCount });
    await restore(ctx, deletion._id);
    return null;
  },
});

export const restoreComment = mutation({
  args: { commentId: v.id("comments") },
  handler: async (ctx, { commentId }) => {
    const deletion = await deletionOf(ctx, commentId);
    const comment = await ctx.db.get("comments", commentId);
    const task = comment && (await ctx.db.get("tasks", comment.taskId));
    if (!task || task.deletionId) throw parentDeleted();
    await restore(ctx, deletion._id);
    return null;
  },
});

/** Deletes for good what has been in the trash long enough: one deletion at a time. */
export const empty = internalMutation({
  args: {},
  handler: async (ctx) => {
    const deletion = await ctx.db
      .query("deletions")
      .withIndex("by_deleted_at", (q) =>
        q.lte("deletedAt", Date.now() - KEPT_MS),
      )
      .first();
    if (deletion === null) return null;
    const { projects, tasks, comments } = await itemsOf(ctx, deletion._id);
    for (const { _id } of comments) await ctx.db.delete("comments", _id);
    for (const { _id } of tasks) await ctx.db.delete("tasks", _id);
    for (const { _id } of projects) await ctx.db.delete("projects", _id);
    await ctx.db.delete("deletions", deletion._id);
    await ctx.scheduler.runAfter(0, internal.trash.empty);
    return null;
  },
});

export async function recordDeletion(
  ctx: MutationCtx,
  kind: Doc<"deletions">["kind"],
  itemId: Doc<"deletions">["itemId"],
  title: string,
) {
  const deletedAt = Date.now();
  return await ctx.db.insert("deletions", { kind, itemId, title, deletedAt });
}

/** Puts a task and those of its comments that are not there yet into the trash. */
export async function trashTask(
  ctx: MutationCtx,
  taskId: Id<"tasks">,
  deletionId: Id<"deletions">,
) {
  const comments = await ctx.db
    .query("comments")
    .withIndex("by_task", (q) =>
      q.eq("taskId", taskId).eq("deletionId", undefined),
    )
    .collect();
  for (const { _id } of comments) {
    await ctx.db.patch("comments", _id, { deletionId });
  }
  await ctx.db.patch("tasks", taskId, { deletionId });
}

async function deletionOf(
  ctx: MutationCtx,
  itemId: Doc<"deletions">["itemId"],
) {
  const deletion = await ctx.db
    .query("deletions")
    .withIndex("by_item", (q) => q.eq("itemId", itemId))
    .unique();
  if (deletion === null) throw notFound();
  return deletion;
}

async function restore(ctx: MutationCtx, deletion: Id<"deletions">) {
  const { projects, tasks, comments } = await itemsOf(ctx, deletion);
  const deletionId = undefined;
  for (const { _id } of comments) {
    await ctx.db.patch("comments", _id, { deletionId });
  }
  for (const { _id } of tasks) await ctx.db.patch("tasks", _id, { deletionId });
  for (const { _id } of projects) {
    await ctx.db.patch("projects", _id, { deletionId });
  }
  await ctx.db.delete("deletions", deletion);
}

async function itemsOf(ctx: MutationCtx, deletionId: Id<"deletions">) {
  const projects = await ctx.db
    .query("projects")
    .withIndex("by_deletion", (q) => q.eq("deletionId", deletionId))
    .collect();
  const tasks = await ctx.db
    .query("tasks")
    .withIndex("by_deletion", (q) => q.eq("deletionId", deletionId))
    .collect();
  const comments = await ctx.db
    .query("comments")
    .withIndex("by_deletion", (q) => q.eq("deletionId", deletionId))
    .collect();
  return { projects, tasks, comments };
}

function parentDeleted() {
  return new ConvexError({ code: "PARENT_DELETED" });
}
