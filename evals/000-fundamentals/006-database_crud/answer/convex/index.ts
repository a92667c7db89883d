import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { note } from "./schema";

export const create = mutation({
  args: {
    title: v.string(),
    body: v.string(),
    color: v.optional(v.string()),
  },
  handler: async (ctx, { title, body, color }) => {
    return await ctx.db.insert("notes", {
      title,
      body,
      color,
      isPinned: false,
    });
  },
});

export const get = query({
  args: { noteId: v.id("notes") },
  handler: async (ctx, { noteId }) => {
    return await ctx.db.get("notes", noteId);
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    return await ctx.db.query("notes").order("desc").collect();
  },
});

export const update = mutation({
  args: {
    noteId: v.id("notes"),
    title: v.optional(v.string()),
    body: v.optional(v.string()),
    color: v.optional(v.string()),
    isPinned: v.optional(v.boolean()),
  },
  handler: async (ctx, { noteId, ...changes }) => {
    await ctx.db.patch("notes", noteId, changes);
    return null;
  },
});

export const overwrite = mutation({
  args: { noteId: v.id("notes"), note },
  handler: async (ctx, { noteId, note }) => {
    await ctx.db.replace("notes", noteId, note);
    return null;
  },
});

export const remove = mutation({
  args: { noteId: v.id("notes") },
  handler: async (ctx, { noteId }) => {
    await ctx.db.delete("notes", noteId);
    return null;
  },
});
