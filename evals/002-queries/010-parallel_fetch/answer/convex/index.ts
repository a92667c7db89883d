import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";

export const getProfiles = query({
  args: { userIds: v.array(v.id("users")) },
  handler: async (ctx, args) => {
    return await Promise.all(
      args.userIds.map((userId) => getProfile(ctx, userId)),
    );
  },
});

async function getProfile(ctx: QueryCtx, userId: Id<"users">) {
  const [user, latestPost, followers] = await Promise.all([
    ctx.db.get("users", userId),
    ctx.db
      .query("posts")
      .withIndex("by_user", (q) => q.eq("userId", userId))
      .order("desc")
      .first(),
    ctx.db
      .query("followers")
      .withIndex("by_user", (q) => q.eq("userId", userId))
      .collect(),
  ]);
  if (user === null) {
    return null;
  }
  return {
    name: user.name,
    latestPost: latestPost?.title ?? null,
    followerCount: followers.length,
  };
}
