import { ConvexError, v } from "convex/values";
import { internalMutation, mutation } from "./_generated/server";

export const publish = mutation({
  args: { groupId: v.id("groups"), author: v.string(), text: v.string() },
  handler: async (ctx, args) => {
    const publishedAt = Date.now();
    return await ctx.db.insert("posts", { ...args, publishedAt });
  },
});

/** Copies posts from another system, with the times at which they were published there. */
export const importFrom = internalMutation({
  args: {
    groupId: v.id("groups"),
    posts: v.array(
      v.object({
        author: v.string(),
        text: v.string(),
        publishedAt: v.number(),
      }),
    ),
  },
  handler: async (ctx, { groupId, posts }) => {
    for (const post of posts) {
      await ctx.db.insert("posts", { groupId, ...post });
    }
    return null;
  },
});

export const move = mutation({
  args: { postId: v.id("posts"), groupId: v.id("groups") },
  handler: async (ctx, { postId, groupId }) => {
    const post = await ctx.db.get("posts", postId);
    if (!post) throw new ConvexError({ code: "NO_SUCH_POST" });
    await ctx.db.patch("posts", postId, { groupId });
    return null;
  },
});

export const remove = mutation({
  args: { postId: v.id("posts") },
  handler: async (ctx, { postId }) => {
    const post = await ctx.db.get("posts", postId);
    if (!post) throw new ConvexError({ code: "NO_SUCH_POST" });
    await ctx.db.delete("posts", postId);
    return null;
  },
});
