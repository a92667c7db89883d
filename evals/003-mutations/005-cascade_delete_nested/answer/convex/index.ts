import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";

export const deleteUser = mutation({
  args: { userId: v.id("users") },
  handler: async (ctx, { userId }) => {
    const posts = await postsOf(ctx, userId);
    const comments = await commentsOf(ctx, userId, posts);
    const likes = await likesOf(ctx, userId, comments);
    // If the user is gone, the deletion throws, and then nothing is deleted.
    await ctx.db.delete("users", userId);
    for (const post of posts) await ctx.db.delete("posts", post);
    for (const comment of comments) await ctx.db.delete("comments", comment);
    for (const like of likes) await ctx.db.delete("likes", like);
    return {
      posts: posts.size,
      comments: comments.size,
      likes: likes.size,
    };
  },
});

async function postsOf(ctx: MutationCtx, userId: Id<"users">) {
  const posts = await ctx.db
    .query("posts")
    .withIndex("by_author", (q) => q.eq("authorId", userId))
    .collect();
  return new Set(posts.map((post) => post._id));
}

async function commentsOf(
  ctx: MutationCtx,
  userId: Id<"users">,
  posts: Set<Id<"posts">>,
) {
  const found = await Promise.all([
    ctx.db
      .query("comments")
      .withIndex("by_author", (q) => q.eq("authorId", userId))
      .collect(),
    ...[...posts].map((postId) =>
      ctx.db
        .query("comments")
        .withIndex("by_post", (q) => q.eq("postId", postId))
        .collect(),
    ),
  ]);
  return new Set(found.flat().map((comment) => comment._id));
}

async function likesOf(
  ctx: MutationCtx,
  userId: Id<"users">,
  comments: Set<Id<"comments">>,
) {
  const found = await Promise.all([
    ctx.db
      .query("likes")
      .withIndex("by_user", (q) => q.eq("userId", userId))
      .collect(),
    ...[...comments].map((commentId) =>
      ctx.db
        .query("likes")
        .withIndex("by_comment", (q) => q.eq("commentId", commentId))
        .collect(),
    ),
  ]);
  return new Set(found.flat().map((like) => like._id));
}
