import { ConvexError, v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internalMutation, mutation, type MutationCtx } from "./_generated/server";

export const publish = mutation({
  args: { groupId: v.id("groups"), author: v.string(), text: v.string() },
  handler: async (ctx, args) => {
    const publishedAt = Date.now();
    const id = await ctx.db.insert("posts", { ...args, publishedAt });
    await addUnread(ctx, args.groupId, args.author);
    return id;
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
      await addUnread(ctx, groupId, post.author);
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
    if (groupId !== post.groupId) await addUnread(ctx, groupId, post.author);
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

async function addUnread(
  ctx: MutationCtx,
  groupId: Id<"groups">,
  author: string,
) {
  const members = await ctx.db
    .query("members")
    .withIndex("by_group_and_user", (q) => q.eq("groupId", groupId))
    .collect();
  for (const { _id, user, unread } of members) {
    if (user !== author) {
      await ctx.db.patch("members", _id, { unread: unread + 1 });
    }
  }
}
