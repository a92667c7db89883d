import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { existing } from "./errors";
import { requireRoom } from "./limits";

export const add = mutation({
  args: { projectId: v.id("projects"), name: v.string(), bytes: v.number() },
  handler: async (ctx, args) => {
    const { workspaceId } = existing(
      await ctx.db.get("projects", args.projectId),
    );
    await requireRoom(ctx, workspaceId, { bytes: args.bytes });
    return await ctx.db.insert("files", args);
  },
});

/** A new version, of another size. */
export const replace = mutation({
  args: { fileId: v.id("files"), bytes: v.number() },
  handler: async (ctx, { fileId, bytes }) => {
    const file = existing(await ctx.db.get("files", fileId));
    const project = existing(await ctx.db.get("projects", file.projectId));
    await requireRoom(ctx, project.workspaceId, { bytes: bytes - file.bytes });
    await ctx.db.patch("files", fileId, { bytes });
    return null;
  },
});

export const move = mutation({
  args: { fileId: v.id("files"), projectId: v.id("projects") },
  handler: async (ctx, { fileId, projectId }) => {
    const file = existing(await ctx.db.get("files", fileId));
    const from = await ctx.db.get("projects", file.projectId);
    const to = existing(await ctx.db.get("projects", projectId));
    if (from?.workspaceId !== to.workspaceId) {
      await requireRoom(ctx, to.workspaceId, { bytes: file.bytes });
    }
    await ctx.db.patch("files", fileId, { projectId });
    return null;
  },
});

export const remove = mutation({
  args: { fileId: v.id("files") },
  handler: async (ctx, { fileId }) => {
    existing(await ctx.db.get("files", fileId));
    await ctx.db.delete("files", fileId);
    return null;
  },
});
