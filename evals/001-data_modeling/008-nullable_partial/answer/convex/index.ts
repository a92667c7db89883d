import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: {
    handle: v.string(),
    nickname: v.optional(v.string()),
    website: v.optional(v.nullable(v.string())),
  },
  handler: async (ctx, args) => {
    return await ctx.db.insert("profiles", { ...args, bio: null });
  },
});

export const update = mutation({
  args: {
    profileId: v.id("profiles"),
    bio: v.optional(v.nullable(v.string())),
    website: v.optional(v.nullable(v.string())),
  },
  handler: async (ctx, { profileId, ...changes }) => {
    // Arguments that were left out are not in `changes`; as undefined they would remove fields.
    await ctx.db.patch("profiles", profileId, changes);
    return null;
  },
});

export const clearNickname = mutation({
  args: { profileId: v.id("profiles") },
  handler: async (ctx, { profileId }) => {
    await ctx.db.patch("profiles", profileId, { nickname: undefined });
    return null;
  },
});

export const byWebsite = query({
  args: { website: v.optional(v.nullable(v.string())) },
  handler: async (ctx, { website }) => {
    return await ctx.db
      .query("profiles")
      .withIndex("by_website", (q) => q.eq("website", website))
      .collect();
  },
});
