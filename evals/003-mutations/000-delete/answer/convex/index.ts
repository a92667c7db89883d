import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const removeTask = mutation({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, args) => {
    const task = await ctx.db.get("tasks", args.taskId);
    if (task !== null) {
      await ctx.db.delete("tasks", task._id);
    }
    return task;
  },
});

export const removeTasks = mutation({
  args: { taskIds: v.array(v.id("tasks")) },
  handler: async (ctx, args) => {
    const taskIds = new Set(args.taskIds);
    // Deleting a task that is gone throws, and then nothing is deleted.
    await Promise.all(
      [...taskIds].map((taskId) => ctx.db.delete("tasks", taskId)),
    );
    return taskIds.size;
  },
});
