import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";

/** All notes, oldest first. */
export const list = query({
  args: {},
  handler: async (ctx) => await ctx.db.query("notes").collect(),
});

/** Adds a note without votes. */
export const add = mutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    if (text.length > 20) throw new ConvexError(`${text} is too long`);
    await ctx.db.insert("notes", { text, votes: 0 });
  },
});

/** One more vote for a note. */
export const vote = mutation({
  args: { noteId: v.id("notes") },
  handler: async (ctx, { noteId }) => {
    const note = await ctx.db.get("notes", noteId);
    if (note === null) throw new ConvexError("This note has been removed");
    await ctx.db.patch("notes", noteId, { votes: note.votes + 1 });
  },
});
