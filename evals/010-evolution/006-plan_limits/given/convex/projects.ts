import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { existing } from "./errors";

export const create = mutation({
  args: { workspaceId: v.id("workspaces"), name: v.string() },
  handler: async (ctx, { workspaceId, name }) => {
    existing(await ctx.db.get("workspaces", workspaceId));
    return await ctx.db.insert("projects", {
      workspaceId,
      name,
      isArchived: false,
    });
  },
});

/** The copy of a project has copies of its files, and is not archived. */
export const duplicate = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }) => {
    const project = existing(await ctx.db.get("projects", projectId));
    const copyId = await ctx.db.insert("projects", {
      workspaceId: project.workspaceId,
      name: `${project.name} (copy)`,
      isArchived: false,
    });
    const files = await ctx.db
      .query("files")
      .withIndex("by_project", (q) => q.eq("projectId", projectId))
      .collect();
    for (const { name, bytes } of files) {
      await ctx.db.insert("files", { projectId: copyId, name, bytes });
    }
    return copyId;
  },
});

export const setArchived = mutation({
  args: { projectId: v.id("projects"), isArchived: v.boolean() },
  handler: async (ctx, { projectId, isArchived }) => {
    existing(await ctx.db.get("projects", projectId));
    await ctx.db.patch("projects", projectId, { isArchived });
    return null;
  },
});

/** Moves a project with its files to another workspace. */
export const moveTo = mutation({
  args: { projectId: v.id("projects"), workspaceId: v.id("workspaces") },
  handler: async (ctx, { projectId, workspaceId }) => {
    existing(await ctx.db.get("projects", projectId));
    existing(await ctx.db.get("workspaces", workspaceId));
    await ctx.db.patch("projects", projectId, { workspaceId });
    return null;
  },
});

export const remove = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }) => {
    existing(await ctx.db.get("projects", projectId));
    const files = await ctx.db
      .query("files")
      .withIndex("by_project", (q) => q.eq("projectId", projectId))
      .collect();
    for (const { _id } of files) await ctx.db.delete("files", _id);
    await ctx.db.delete("projects", projectId);
    return null;
  },
});

export const list = query({
  args: { workspaceId: v.id("workspaces") },
  handler: async (ctx, { workspaceId }) => {
    return await ctx.db
      .query("projects")
      .withIndex("by_workspace", (q) => q.eq("workspaceId", workspaceId))
      .collect();
  },
});
