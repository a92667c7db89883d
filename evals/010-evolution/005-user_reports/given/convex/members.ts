import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
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
    await ctx.db.patch("members", member._id, { openedAt, unread: 0 });
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
    return memberships.map(({ groupId, unread }) => ({ groupId, unread }));
  },
});

async function find(ctx: QueryCtx, groupId: Id<"groups">, user: string) {
  return await ctx.db
    .query("members")
    .withIndex("by_group_and_user", (q) =>
      q.eq("groupId", groupId).eq("user", user),
    )
    .unique();
}
