import { v } from "convex/values";
import { internalMutation, type QueryCtx } from "./_generated/server";

export const suspend = internalMutation({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    if ((await suspension(ctx, user)) === null) {
      await ctx.db.insert("suspensions", { user });
    }
    return null;
  },
});

export const restore = internalMutation({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const found = await suspension(ctx, user);
    if (found !== null) {
      await ctx.db.delete("suspensions", found._id);
    }
    return null;
  },
});

export async function suspension(ctx: QueryCtx, user: string) {
  return await ctx.db
    .query("suspensions")
    .withIndex("by_user", (q) => q.eq("user", user))
    .unique();
}
