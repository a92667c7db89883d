import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { projectById, requireFreeName } from "./lookups";
import { recordDeletion, trashTask } from "./trash";

export const create = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    await requireFreeName(ctx, name);
    return await ctx.db.insert("projects", { name, taskCount: 0 });
  },
});

export const rename = mutation({
  args: { projectId: v.id("projects"), name: v.string() },
  handler: async (ctx, { projectId, name }) => {
    const project = await projectById(ctx, projectId);
    if (project.name === name) return null;
    await requireFreeName(ctx, name);
    await ctx.db.patch("projects", projectId, { name });
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const projects = await ctx.db
      .query("projects")
      .withIndex("by_deletion", (q) => q.eq("deletionId", undefined))
      .collect();
    return projects.map(({ _id, name, taskCount }) => ({
      id: _id,
      name,
      taskCount,
    }));
  },
});

/** Deletes a project with its tasks and their comments. */
export const remove = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }) => {
    const { name } = await projectById(ctx, projectId);
    const deletionId = await recordDeletion(ctx, "project", projectId, name);
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_project", (q) =>
        q.eq("projectId", projectId).eq("deletionId", undefined),
      )
      .collect();
    for (const task of tasks) {
      await trashTask(ctx, task._id, deletionId);
    }
    await ctx.db.patch("projects", projectId, { deletionId });
    return null;
  },
});
