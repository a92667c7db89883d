import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const follow = mutation({
  args: { follower: v.string(), followed: v.string() },
  handler: async (ctx, args) => {
    if (args.follower === args.followed) {
      throw new Error("Nobody can follow themselves.");
    }
    await ctx.db.insert("follows", args);
  },
});

export const followersOf = query({
  args: { person: v.string() },
  handler: async (ctx, args) => {
    const follows = await ctx.db
      .query("follows")
      .withIndex("by_followed", (q) => q.eq("followed", args.person))
      .collect();
    return [...new Set(follows.map((each) => each.follower))].sort();
  },
});
