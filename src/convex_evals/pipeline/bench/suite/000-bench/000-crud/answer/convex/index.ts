import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: { text: v.string() },
  handler: async (ctx, args) => await ctx.db.insert("notes", { text: args.text }),
});

export const read = query({
  args: { id: v.id("notes") },
  handler: async (ctx, args) => await ctx.db.get(args.id),
});

export const update = mutation({
  args: { id: v.id("notes"), text: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.patch(args.id, { text: args.text });
  },
});

export const remove = mutation({
  args: { id: v.id("notes") },
  handler: async (ctx, args) => {
    await ctx.db.delete(args.id);
  },
});
