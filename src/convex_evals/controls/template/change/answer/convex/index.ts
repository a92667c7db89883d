import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { author: v.string(), text: v.string() },
  handler: async (ctx, { author, text }) => {
    if (text === "") {
      throw new Error("A note needs a text");
    }
    return await ctx.db.insert("notes", { author, text });
  },
});

export const latest = query({
  args: { author: v.string(), count: v.number() },
  handler: async (ctx, { author, count }) => {
    return await ctx.db
      .query("notes")
      .withIndex("by_author", (q) => q.eq("author", author))
      .order("desc")
      .take(count);
  },
});

export const setPinned = mutation({
  args: { noteId: v.id("notes"), isPinned: v.boolean() },
  handler: async (ctx, { noteId, isPinned }) => {
    await ctx.db.patch("notes", noteId, { isPinned });
    return null;
  },
});

export const pinned = query({
  args: { author: v.string() },
  handler: async (ctx, { author }) => {
    return await ctx.db
      .query("notes")
      .withIndex("by_author_and_pinned", (q) => q.eq("author", author).eq("isPinned", true))
      .order("desc")
      .collect();
  },
});
