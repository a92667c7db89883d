import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { existing } from "./errors";

export const add = mutation({
  args: { projectId: v.id("projects"), name: v.string(), bytes: v.number() },
  handler: async (ctx, args) => {
    existing(await ctx.db.get("projects", args.projectId));
    return await ctx.db.insert("files", args);
  },
});

/** A new version, of another size. */
export const replace = mutation({
  args: { fileId: v.id("files"), bytes: v.number() },
  handler: async (ctx, { fileId, bytes }) => {
    existing(await ctx.db.get("files", fileId));
    await ctx.db.patch("files", fileId, { bytes });
    return null;
  },
});

export const move = mutation({
  args: { fileId: v.id("files"), projectId: v.id("projects") },
  handler: async (ctx, { fileId, projectId }) => {
    existing(await ctx.db.get("files", fileId));
    existing(await ctx.db.get("projects", projectId));
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
