import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { commentById, taskById } from "./lookups";

export const add = mutation({
  args: { taskId: v.id("tasks"), text: v.string() },
  handler: async (ctx, { taskId, text }) => {
    await taskById(ctx, taskId);
    return await ctx.db.insert("comments", { taskId, text });
  },
});

/** The comments on a task, oldest first. */
export const list = query({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }) => {
    await taskById(ctx, taskId);
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_task", (q) => q.eq("taskId", taskId))
      .collect();
    return comments.map(({ _id, text }) => ({ id: _id, text }));
  },
});

export const remove = mutation({
  args: { commentId: v.id("comments") },
  handler: async (ctx, { commentId }) => {
    await commentById(ctx, commentId);
    await ctx.db.delete("comments", commentId);
    return null;
  },
});
