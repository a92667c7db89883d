import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { requirePost } from "./lib/posts";

export const add = mutation({
  args: { slug: v.string(), text: v.string() },
  handler: async (ctx, { slug, text }) => {
    const post = await requirePost(ctx, slug);
    return await ctx.db.insert("comments", { postId: post._id, text });
  },
});

export const list = query({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) => {
    const post = await requirePost(ctx, slug);
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_post", (q) => q.eq("postId", post._id))
      .collect();
    return comments.map(({ text }) => text);
  },
});
