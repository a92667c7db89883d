import { paginationOptsValidator } from "convex/server";
import { ConvexError, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";

const filter = v.union(v.literal("all"), v.literal("open"), v.literal("done"));

async function countOf(ctx: QueryCtx, projectId: Id<"projects">, done: boolean): Promise<number> {
  const tasks = await ctx.db
    .query("tasks")
    .withIndex("by_done", (q) => q.eq("projectId", projectId).eq("done", done))
    .collect();
  return tasks.length;
}

async function changeable(ctx: MutationCtx, taskId: Id<"tasks">): Promise<Doc<"tasks">> {
  const task = await ctx.db.get("tasks", taskId);
  if (task === null) throw new ConvexError("The task does not exist any more");
  if (task.locked) throw new ConvexError(`${task.title} is locked`);
  return task;
}

/** All projects, oldest first, with the number of their open tasks. */
export const projects = query({
  args: {},
  handler: async (ctx) => {
    const projects = await ctx.db.query("projects").collect();
    return await Promise.all(
      projects.map(async ({ _id, name }) => ({ projectId: _id, name, open: await countOf(ctx, _id, false) })),
    );
  },
});

export const counts = query({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }) => {
    return { open: await countOf(ctx, projectId, false), done: await countOf(ctx, projectId, true) };
  },
});

/** Newest first. */
export const list = query({
  args: { projectId: v.id("projects"), filter, paginationOpts: paginationOptsValidator },
  handler: async (ctx, { projectId, filter, paginationOpts }) => {
    const tasks =
      filter === "all"
        ? ctx.db.query("tasks").withIndex("by_project", (q) => q.eq("projectId", projectId))
        : ctx.db.query("tasks").withIndex("by_done", (q) => q.eq("projectId", projectId).eq("done", filter === "done"));
    return await tasks.order("desc").paginate(paginationOpts);
  },
});

export const add = mutation({
  args: { projectId: v.id("projects"), title: v.string() },
  handler: async (ctx, { projectId, title }) => {
    if (title.length > 20) throw new ConvexError(`${title} is too long`);
    return await ctx.db.insert("tasks", { projectId, title, done: false, locked: false });
  },
});

export const setDone = mutation({
  args: { taskId: v.id("tasks"), done: v.boolean() },
  handler: async (ctx, { taskId, done }) => {
    await changeable(ctx, taskId);
    await ctx.db.patch("tasks", taskId, { done });
    return null;
  },
});

/** Marks all open tasks of a project as done, or none of them if one is locked. */
export const finishAll = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }) => {
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_done", (q) => q.eq("projectId", projectId).eq("done", false))
      .collect();
    for (const { _id } of tasks) {
      await changeable(ctx, _id);
      await ctx.db.patch("tasks", _id, { done: true });
    }
    return null;
  },
});

/** Moves a task to another project. */
export const move = mutation({
  args: { taskId: v.id("tasks"), projectId: v.id("projects") },
  handler: async (ctx, { taskId, projectId }) => {
    await changeable(ctx, taskId);
    await ctx.db.patch("tasks", taskId, { projectId });
    return null;
  },
});

export const remove = mutation({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }) => {
    await changeable(ctx, taskId);
    await ctx.db.delete("tasks", taskId);
    return null;
  },
});
