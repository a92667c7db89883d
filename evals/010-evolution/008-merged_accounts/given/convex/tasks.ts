import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { actor, colleague, mayDo, projectFor, taskFor } from "./lib/access";
import { log } from "./lib/activity";
import { countsAsOpen, recount } from "./lib/counters";
import { existing, fail } from "./lib/errors";
import { notify } from "./lib/notify";
import { isLive } from "./lib/trash";
import { taskState } from "./schema";
import { ensureWatching } from "./watchers";

/** Changes a task, and the counters with it. */
async function change(ctx: MutationCtx, task: Doc<"tasks">, fields: Partial<Doc<"tasks">>): Promise<void> {
  await ctx.db.patch("tasks", task._id, fields);
  await recount(ctx, task, existing(await ctx.db.get("tasks", task._id)));
}

async function shown(ctx: QueryCtx, task: Doc<"tasks">) {
  const author = task.authorName ?? (await ctx.db.get("members", task.authorId))?.name ?? null;
  const assignees = await Promise.all(task.assigneeIds.map((id) => ctx.db.get("members", id)));
  const { _id, number, title, state, votes, comments, minutes } = task;
  const names = assignees.map((member) => member?.name ?? null);
  return { taskId: _id, number, title, state, author, assignees: names, votes, comments, minutes };
}

export const create = mutation({
  args: { actorId: v.id("members"), projectId: v.id("projects"), title: v.string() },
  handler: async (ctx, { actorId, projectId, title }) => {
    const acting = await actor(ctx, actorId);
    const project = await projectFor(ctx, acting, projectId, "write");
    const taskId = await ctx.db.insert("tasks", {
      projectId,
      number: project.nextNumber,
      title,
      state: "open",
      authorId: actorId,
      authorName: acting.name,
      assigneeIds: [],
      votes: 0,
      comments: 0,
      minutes: 0,
    });
    await ctx.db.patch("projects", projectId, { nextNumber: project.nextNumber + 1 });
    await recount(ctx, null, existing(await ctx.db.get("tasks", taskId)));
    await ensureWatching(ctx, taskId, actorId);
    await log(ctx, acting, "task.create", title);
    return taskId;
  },
});

/** A task has at most five assignees. They must be able to see it. */
export const assign = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks"), memberId: v.id("members") },
  handler: async (ctx, { actorId, taskId, memberId }) => {
    const acting = await actor(ctx, actorId);
    const task = await taskFor(ctx, acting, taskId, "write");
    const member = await colleague(ctx, acting, memberId);
    const project = existing(await ctx.db.get("projects", task.projectId));
    if (!(await mayDo(ctx, member, project, "read"))) throw fail("INVALID");
    if (task.assigneeIds.includes(memberId)) return null;
    if (task.assigneeIds.length >= 5) throw fail("FULL");
    await change(ctx, task, { assigneeIds: [...task.assigneeIds, memberId] });
    await ensureWatching(ctx, taskId, memberId);
    await notify(ctx, memberId, "assigned", taskId, actorId);
    await log(ctx, acting, "task.assign", `${task.title}: ${member.name}`);
    return null;
  },
});

export const unassign = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks"), memberId: v.id("members") },
  handler: async (ctx, { actorId, taskId, memberId }) => {
    const acting = await actor(ctx, actorId);
    const task = await taskFor(ctx, acting, taskId, "write");
    if (!task.assigneeIds.includes(memberId)) return null;
    await change(ctx, task, { assigneeIds: task.assigneeIds.filter((id) => id !== memberId) });
    await log(ctx, acting, "task.unassign", task.title);
    return null;
  },
});

export const setState = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks"), state: taskState },
  handler: async (ctx, { actorId, taskId, state }) => {
    const acting = await actor(ctx, actorId);
    const task = await taskFor(ctx, acting, taskId, "write");
    if (task.state === state) return null;
    await change(ctx, task, { state });
    await log(ctx, acting, `task.${state}`, task.title);
    return null;
  },
});

export const remove = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    const acting = await actor(ctx, actorId);
    const task = await taskFor(ctx, acting, taskId, "write");
    await change(ctx, task, { deletedAt: Date.now() });
    await log(ctx, acting, "task.remove", task.title);
    return null;
  },
});

export const restore = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    const acting = await actor(ctx, actorId);
    const task = existing(await ctx.db.get("tasks", taskId));
    await projectFor(ctx, acting, task.projectId, "write");
    if (isLive(task)) return null;
    await change(ctx, task, { deletedAt: undefined });
    await log(ctx, acting, "task.restore", task.title);
    return null;
  },
});

export const get = query({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    const acting = await actor(ctx, actorId);
    return await shown(ctx, await taskFor(ctx, acting, taskId, "read"));
  },
});

export const list = query({
  args: { actorId: v.id("members"), projectId: v.id("projects") },
  handler: async (ctx, { actorId, projectId }) => {
    const acting = await actor(ctx, actorId);
    await projectFor(ctx, acting, projectId, "read");
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_project", (q) => q.eq("projectId", projectId))
      .collect();
    return await Promise.all(tasks.filter(isLive).map((task) => shown(ctx, task)));
  },
});

/** The open tasks of which the actor is an assignee, in projects that are not archived. */
export const mine = query({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    const acting = await actor(ctx, actorId);
    const projects = await ctx.db
      .query("projects")
      .withIndex("by_workspace", (q) => q.eq("workspaceId", acting.workspaceId))
      .collect();
    const found: Id<"tasks">[] = [];
    for (const project of projects) {
      if (project.archived || !(await mayDo(ctx, acting, project, "read"))) continue;
      const tasks = await ctx.db
        .query("tasks")
        .withIndex("by_project", (q) => q.eq("projectId", project._id))
        .collect();
      for (const task of tasks) if (countsAsOpen(task) && task.assigneeIds.includes(actorId)) found.push(task._id);
    }
    return found;
  },
});
