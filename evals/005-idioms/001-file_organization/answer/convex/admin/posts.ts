import { v } from "convex/values";
import { internalMutation } from "../_generated/server";
import { requirePost } from "../lib/posts";

export const remove = internalMutation({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) => {
    const post = await requirePost(ctx, slug);
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_post", (q) => q.eq("postId", post._id))
      .collect();
    for (const comment of comments) {
      await ctx.db.delete("comments", comment._id);
    }
    await ctx.db.delete("posts", post._id);
    return comments.length;
  },
});
