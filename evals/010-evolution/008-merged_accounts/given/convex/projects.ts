import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { accessOf, actor, colleague, mayDo, projectFor } from "./lib/access";
import { log } from "./lib/activity";
import { fail } from "./lib/errors";

export const create = mutation({
  args: { actorId: v.id("members"), name: v.string() },
  handler: async (ctx, { actorId, name }) => {
    const acting = await actor(ctx, actorId, "member");
    const projectId = await ctx.db.insert("projects", {
      workspaceId: acting.workspaceId,
      name,
      ownerId: actorId,
      nextNumber: 1,
      openTasks: 0,
      archived: false,
    });
    await log(ctx, acting, "project.create", name);
    return projectId;
  },
});

/** Only the owner of a project and administrators may do it. Guests cannot own projects. */
export const setOwner = mutation({
  args: { actorId: v.id("members"), projectId: v.id("projects"), memberId: v.id("members") },
  handler: async (ctx, { actorId, projectId, memberId }) => {
    const acting = await actor(ctx, actorId, "member");
    const project = await projectFor(ctx, acting, projectId, "write");
    if (project.ownerId !== actorId && acting.role === "member") throw fail("FORBIDDEN");
    const member = await colleague(ctx, acting, memberId);
    if (member.role === "guest") throw fail("INVALID");
    await ctx.db.patch("projects", projectId, { ownerId: memberId });
    await log(ctx, acting, "project.owner", `${project.name}: ${member.name}`);
    return null;
  },
});

/** Gives a guest access, changes it, or takes it away. What a guest became a member with stays, in case they become one again. */
export const share = mutation({
  args: {
    actorId: v.id("members"),
    projectId: v.id("projects"),
    memberId: v.id("members"),
    level: v.union(v.literal("read"), v.literal("write"), v.null()),
  },
  handler: async (ctx, { actorId, projectId, memberId, level }) => {
    const acting = await actor(ctx, actorId, "member");
    const project = await projectFor(ctx, acting, projectId, "write");
    const member = await colleague(ctx, acting, memberId);
    const access = await accessOf(ctx, projectId, memberId);
    if (access !== null && level === null) await ctx.db.delete("access", access._id);
    else if (access !== null && level !== null) await ctx.db.patch("access", access._id, { level });
    else if (level !== null) await ctx.db.insert("access", { projectId, memberId, level });
    await log(ctx, acting, "project.share", `${project.name}: ${member.name}`);
    return null;
  },
});

export const setArchived = mutation({
  args: { actorId: v.id("members"), projectId: v.id("projects"), archived: v.boolean() },
  handler: async (ctx, { actorId, projectId, archived }) => {
    const acting = await actor(ctx, actorId, "member");
    const project = await projectFor(ctx, acting, projectId, "write");
    await ctx.db.patch("projects", projectId, { archived });
    await log(ctx, acting, archived ? "project.archive" : "project.unarchive", project.name);
    return null;
  },
});

/** What the actor may see, oldest first. */
export const list = query({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    const acting = await actor(ctx, actorId);
    const projects = await ctx.db
      .query("projects")
      .withIndex("by_workspace", (q) => q.eq("workspaceId", acting.workspaceId))
      .collect();
    const found = [];
    for (const project of projects) {
      if (project.archived || !(await mayDo(ctx, acting, project, "read"))) continue;
      const owner = await ctx.db.get("members", project.ownerId);
      const mayWrite = await mayDo(ctx, acting, project, "write");
      const { _id, name, openTasks } = project;
      found.push({ projectId: _id, name, openTasks, owner: owner?.name ?? null, mayWrite });
    }
    return found;
  },
});
