import { v } from "convex/values";
import { query } from "./_generated/server";

export const between = query({
  args: {
    organization: v.string(),
    kind: v.string(),
    from: v.number(),
    until: v.number(),
  },
  handler: async (ctx, { organization, kind, from, until }) => {
    return await ctx.db
      .query("events")
      .withIndex("by_organization_and_kind_and_startsAt", (q) =>
        q
          .eq("organization", organization)
          .eq("kind", kind)
          .gte("startsAt", from)
          .lt("startsAt", until),
      )
      .collect();
  },
});

export const latest = query({
  args: { organization: v.string(), kind: v.string(), limit: v.number() },
  handler: async (ctx, { organization, kind, limit }) => {
    return await ctx.db
      .query("events")
      .withIndex("by_organization_and_kind_and_startsAt", (q) =>
        q.eq("organization", organization).eq("kind", kind),
      )
      .order("desc")
      .take(limit);
  },
});

export const program = query({
  args: { organization: v.string() },
  handler: async (ctx, { organization }) => {
    return await ctx.db
      .query("events")
      .withIndex("by_organization_and_kind_and_startsAt", (q) =>
        q.eq("organization", organization),
      )
      .collect();
  },
});
