import { v } from "convex/values";
import {
  internalMutation,
  internalQuery,
  type QueryCtx,
} from "./_generated/server";

export const allow = internalMutation({
  args: { pattern: v.string(), credentials: v.boolean() },
  handler: async (ctx, { pattern, credentials }) => {
    const before = await findSite(ctx, pattern);
    if (before === null) {
      await ctx.db.insert("sites", { pattern, credentials });
    } else {
      await ctx.db.patch("sites", before._id, { credentials });
    }
    return null;
  },
});

export const forbid = internalMutation({
  args: { pattern: v.string() },
  handler: async (ctx, { pattern }) => {
    const before = await findSite(ctx, pattern);
    if (before !== null) {
      await ctx.db.delete("sites", before._id);
    }
    return null;
  },
});

/** What an origin may do. */
export const permission = internalQuery({
  args: { origin: v.string() },
  handler: async (ctx, { origin }) => {
    const sites = await ctx.db.query("sites").collect();
    const matching = sites.filter(({ pattern }) => matches(pattern, origin));
    return {
      allowed: matching.length > 0,
      credentials: matching.some((site) => site.credentials),
    };
  },
});

function matches(pattern: string, origin: string): boolean {
  const [scheme, rest] = pattern.split("://*.");
  if (scheme === undefined || rest === undefined) {
    return pattern === origin;
  }
  const start = `${scheme}://`;
  const end = `.${rest}`;
  const names = origin.slice(start.length, -end.length);
  return (
    origin.startsWith(start) &&
    origin.endsWith(end) &&
    /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(names)
  );
}

async function findSite(ctx: QueryCtx, pattern: string) {
  return await ctx.db
    .query("sites")
    .withIndex("by_pattern", (q) => q.eq("pattern", pattern))
    .unique();
}
