import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const updateProfile = mutation({
  args: {
    profileId: v.id("profiles"),
    name: v.optional(v.string()),
    isPublic: v.optional(v.boolean()),
    bio: v.optional(v.union(v.string(), v.null())),
    website: v.optional(v.union(v.string(), v.null())),
    age: v.optional(v.union(v.number(), v.null())),
  },
  handler: async (ctx, { profileId, bio, website, age, ...changes }) => {
    if ((await ctx.db.get("profiles", profileId)) === null) {
      return null;
    }
    // In a patch, undefined removes a field, and a field that is not named stays.
    await ctx.db.patch("profiles", profileId, {
      ...changes,
      ...(bio !== undefined && { bio: bio ?? undefined }),
      ...(website !== undefined && { website: website ?? undefined }),
      ...(age !== undefined && { age: age ?? undefined }),
    });
    return await ctx.db.get("profiles", profileId);
  },
});

export const resetProfile = mutation({
  args: { profileId: v.id("profiles") },
  handler: async (ctx, args) => {
    await ctx.db.patch("profiles", args.profileId, {
      bio: undefined,
      website: undefined,
      age: undefined,
    });
    return null;
  },
});
