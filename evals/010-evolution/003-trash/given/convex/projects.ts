import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { projectById, requireFreeName } from "./lookups";

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
    const projects = await ctx.db.query("projects").collect();
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
    await projectById(ctx, projectId);
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_project", (q) => q.eq("projectId", projectId))
      .collect();
    for (const task of tasks) {
      const comments = await ctx.db
        .query("comments")
        .withIndex("by_task", (q) => q.eq("taskId", task._id))
        .collect();
      for (const comment of comments) {
        await ctx.db.delete("comments", comment._id);
      }
      await ctx.db.delete("tasks", task._id);
    }
    await ctx.db.delete("projects", projectId);
    return null;
  },
});
