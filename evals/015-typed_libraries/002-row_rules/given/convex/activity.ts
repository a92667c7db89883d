import { v } from "convex/values";
import { memberMutation, memberQuery } from "./lib/functions";
import schema from "./schema";

export const add = memberMutation({
  args: { entry: schema.tables.activity.validator },
  returns: v.id("activity"),
  handler: async (ctx, { entry }) => await ctx.db.insert("activity", entry),
});

export const on = memberQuery({
  args: { noteId: v.id("notes") },
  returns: v.array(schema.doc("activity")),
  handler: async (ctx, { noteId }) =>
    await ctx.db
      .query("activity")
      .withIndex("by_note", (q) => q.eq("noteId", noteId))
      .collect(),
});

export const score = memberQuery({
  args: { noteId: v.id("notes") },
  returns: v.number(),
  handler: async (ctx, { noteId }) => {
    let sum = 0;
    for await (const entry of ctx.db.query("activity").withIndex("by_note", (q) => q.eq("noteId", noteId))) {
      if (entry.kind === "vote") sum += entry.value;
    }
    return sum;
  },
});

/** Nobody may change an entry, but everybody may delete one they can see. */
export const edit = memberMutation({
  args: { id: v.id("activity"), text: v.string() },
  returns: v.null(),
  handler: async (ctx, { id, text }) => {
    await ctx.db.patch("activity", id, { text });
    return null;
  },
});

export const remove = memberMutation({
  args: { id: v.id("activity") },
  returns: v.null(),
  handler: async (ctx, { id }) => {
    await ctx.db.delete("activity", id);
    return null;
  },
});
