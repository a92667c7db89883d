import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const addComment = mutation({
  args: { post: v.string(), body: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("comments", { post: args.post, body: args.body, hidden: false });
  },
});

export const hideComment = mutation({
  args: { id: v.id("comments") },
  handler: async (ctx, args) => {
    await ctx.db.patch(args.id, { hidden: true });
  },
});

export const listComments = query({
  args: { post: v.string() },
  handler: async (ctx, args) => {
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_post", (q) => q.eq("post", args.post))
      .collect();
    return comments.filter((comment) => !comment.hidden).map((comment) => comment.body);
  },
});

export const countComments = query({
  args: { post: v.string() },
  handler: async (ctx, args) => {
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_post", (q) => q.eq("post", args.post))
      .collect();
    return comments.filter((comment) => !comment.hidden).length;
  },
});
