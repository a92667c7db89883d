import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  internalMutation,
  mutation,
  query,
  type QueryCtx,
} from "./_generated/server";

async function findLink(ctx: QueryCtx, code: string) {
  return await ctx.db
    .query("links")
    .withIndex("by_code", (q) => q.eq("code", code))
    .unique();
}

export const preview = query({
  args: { code: v.string() },
  handler: async (ctx, args) => {
    const link = await findLink(ctx, args.code);
    return link && { target: link.target, clicks: link.clicks };
  },
});

export const follow = mutation({
  args: { code: v.string(), source: v.string() },
  handler: async (ctx, args) => {
    const link = await findLink(ctx, args.code);
    if (link === null) {
      return null;
    }
    const clicks = link.clicks + 1;
    await ctx.db.patch("links", link._id, { clicks });
    await ctx.scheduler.runAfter(0, internal.index.recordVisit, {
      linkId: link._id,
      source: args.source,
    });
    return { target: link.target, clicks };
  },
});

export const recordVisit = internalMutation({
  args: { linkId: v.id("links"), source: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.insert("visits", args);
    return null;
  },
});
