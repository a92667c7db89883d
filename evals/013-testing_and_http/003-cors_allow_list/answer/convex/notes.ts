import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

export const list = internalQuery({
  args: {},
  handler: async (ctx) => {
    const notes = await ctx.db.query("notes").withIndex("by_number").collect();
    return notes.map(({ number, text }) => ({ number, text }));
  },
});

export const add = internalMutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    const counter = await ctx.db.query("counters").first();
    const number = (counter?.last ?? 0) + 1;
    if (counter === null) {
      await ctx.db.insert("counters", { last: number });
    } else {
      await ctx.db.patch("counters", counter._id, { last: number });
    }
    await ctx.db.insert("notes", { number, text });
    return number;
  },
});

/** Whether there was one. */
export const remove = internalMutation({
  args: { number: v.number() },
  handler: async (ctx, { number }) => {
    const note = await ctx.db
      .query("notes")
      .withIndex("by_number", (q) => q.eq("number", number))
      .unique();
    if (note !== null) {
      await ctx.db.delete("notes", note._id);
    }
    return note !== null;
  },
});
