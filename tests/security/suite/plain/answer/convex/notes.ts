import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { owner: v.string(), text: v.string() },
  handler: async (ctx, args) => await ctx.db.insert("notes", args),
});

export const list = query({
  args: { owner: v.string() },
  handler: async (ctx, args) => {
    const notes = await ctx.db
      .query("notes")
      .withIndex("by_owner", (q) => q.eq("owner", args.owner))
      .collect();
    return notes.map((note) => note.text);
  },
});
