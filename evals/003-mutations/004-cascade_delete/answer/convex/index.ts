import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const deleteProject = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }) => {
    const [tasks, memberships] = await Promise.all([
      ctx.db
        .query("tasks")
        .withIndex("by_project", (q) => q.eq("projectId", projectId))
        .collect(),
      ctx.db
        .query("memberships")
        .withIndex("by_project", (q) => q.eq("projectId", projectId))
        .collect(),
    ]);
    const locked = tasks.find((task) => task.isLocked);
    if (locked !== undefined) {
      throw new Error(`The task ${locked.title} is locked`);
    }
    // If the project is gone, its deletion throws, and then nothing is deleted.
    await Promise.all([
      ctx.db.delete("projects", projectId),
      ...tasks.map((task) => ctx.db.delete("tasks", task._id)),
      ...memberships.map(({ _id }) => ctx.db.delete("memberships", _id)),
    ]);
    return { tasks: tasks.length, memberships: memberships.length };
  },
});
