import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx } from "./_generated/server";

export const createProject = mutation({
  args: { name: v.string(), priority: v.number() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("projects", args);
  },
});

export const createTask = mutation({
  args: { projectId: v.id("projects"), title: v.string() },
  handler: async (ctx, { projectId, title }) => {
    const { priority } = await getProject(ctx, projectId);
    return await ctx.db.insert("tasks", {
      projectId,
      title,
      isDone: false,
      priority,
    });
  },
});

export const setPriority = mutation({
  args: { projectId: v.id("projects"), priority: v.number() },
  handler: async (ctx, { projectId, priority }) => {
    await ctx.db.patch("projects", projectId, { priority });
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_projectId", (q) => q.eq("projectId", projectId))
      .collect();
    for (const task of tasks) {
      await ctx.db.patch("tasks", task._id, { priority });
    }
    return null;
  },
});

export const moveTask = mutation({
  args: { taskId: v.id("tasks"), projectId: v.id("projects") },
  handler: async (ctx, { taskId, projectId }) => {
    const { priority } = await getProject(ctx, projectId);
    await ctx.db.patch("tasks", taskId, { projectId, priority });
    return null;
  },
});

export const finishTask = mutation({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }) => {
    await ctx.db.patch("tasks", taskId, { isDone: true });
    return null;
  },
});

export const topTasks = query({
  args: { limit: v.number() },
  handler: async (ctx, { limit }) => {
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_isDone_and_priority", (q) => q.eq("isDone", false))
      .order("desc")
      .take(limit);
    return tasks.map(({ _id, title, priority }) => ({
      taskId: _id,
      title,
      priority,
    }));
  },
});

async function getProject(ctx: MutationCtx, projectId: Id<"projects">) {
  const project = await ctx.db.get("projects", projectId);
  if (project === null) {
    throw new Error(`There is no project ${projectId}`);
  }
  return project;
}
