import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { projectById, taskById } from "./lookups";
import { recordDeletion, trashTask } from "./trash";

export const create = mutation({
  args: { projectId: v.id("projects"), title: v.string(), assignee: v.string() },
  handler: async (ctx, args) => {
    const { _id, taskCount } = await projectById(ctx, args.projectId);
    await ctx.db.patch("projects", _id, { taskCount: taskCount + 1 });
    return await ctx.db.insert("tasks", { ...args, done: false });
  },
});

export const update = mutation({
  args: {
    taskId: v.id("tasks"),
    title: v.optional(v.string()),
    assignee: v.optional(v.string()),
    done: v.optional(v.boolean()),
  },
  handler: async (ctx, { taskId, ...changes }) => {
    await taskById(ctx, taskId);
    await ctx.db.patch("tasks", taskId, changes);
    return null;
  },
});

export const get = query({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }) => {
    const { title, assignee, done } = await taskById(ctx, taskId);
    return { title, assignee, done };
  },
});

/** The tasks of a project, oldest first. */
export const list = query({
  args: {
    projectId: v.id("projects"),
    paginationOpts: paginationOptsValidator,
  },
  handler: async (ctx, { projectId, paginationOpts }) => {
    await projectById(ctx, projectId);
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_project", (q) =>
        q.eq("projectId", projectId).eq("deletionId", undefined),
      )
      .paginate(paginationOpts);
    const page = tasks.page.map(({ _id, title }) => ({ id: _id, title }));
    return { ...tasks, page };
  },
});

/** Deletes a task with its comments. */
export const remove = mutation({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }) => {
    const task = await taskById(ctx, taskId);
    const deletionId = await recordDeletion(ctx, "task", taskId, task.title);
    await trashTask(ctx, taskId, deletionId);
    const { _id, taskCount } = await projectById(ctx, task.projectId);
    await ctx.db.patch("projects", _id, { taskCount: taskCount - 1 });
    return null;
  },
});
