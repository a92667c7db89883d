import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { text: v.string() },
  handler: async (ctx, args) => await ctx.db.insert("notes", args),
});

export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("notes").collect() });
