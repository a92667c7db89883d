import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

export const join = mutation({
  args: { groupId: v.id("groups"), user: v.string() },
  handler: async (ctx, { groupId, user }) => {
    if (await find(ctx, groupId, user)) return null;
    const openedAt = Date.now();
    await ctx.db.insert("members", { groupId, user, openedAt, unread: 0 });
    return null;
  },
});

export const leave = mutation({
  args: { groupId: v.id("groups"), user: v.string() },
  handler: async (ctx, { groupId, user }) => {
    const member = await find(ctx, groupId, user);
    if (member) await ctx.db.delete("members", member._id);
    return null;
  },
});

export const open = mutation({
  args: { groupId: v.id("groups"), user: v.string() },
  handler: async (ctx, { groupId, user }) => {
    const member = await find(ctx, groupId, user);
    if (!member) return null;
    const openedAt = Date.now();
    await ctx.db.patch("members", member._id, { openedAt });
    return null;
  },
});

/** The numbers on the badges of somebody's groups, in the order in which they joined them. */
export const badges = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const memberships = await ctx.db
      .query("members")
      .withIndex("by_user", (q) => q.eq("user", user))
      .collect();
    return await Promise.all(
      memberships.map(async (member) => ({
        groupId: member.groupId,
        unread: await countUnread(ctx, member),
      })),
    );
  },
});

/** Counted when it is asked for: posts can be imported, moved and deleted. */
async function countUnread(ctx: QueryCtx, member: Doc<"members">) {
  const posts = await ctx.db
    .query("posts")
    .withIndex("by_group_and_time", (q) =>
      q.eq("groupId", member.groupId).gt("publishedAt", member.openedAt),
    )
    .collect();
  return posts.filter(({ author }) => author !== member.user).length;
}

async function find(ctx: QueryCtx, groupId: Id<"groups">, user: string) {
  return await ctx.db
    .query("members")
    .withIndex("by_group_and_user", (q) =>
      q.eq("groupId", groupId).eq("user", user),
    )
    .unique();
}
