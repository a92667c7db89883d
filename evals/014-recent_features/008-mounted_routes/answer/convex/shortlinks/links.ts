import { ConvexError, v } from "convex/values";
import {
  env,
  internalMutation,
  internalQuery,
  mutation,
  query,
  type QueryCtx,
} from "./_generated/server";

const NAME = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/;

export const add = mutation({
  args: { name: v.string(), target: v.string() },
  returns: v.string(),
  handler: async (ctx, { name, target }) => {
    if (!NAME.test(name)) throw new ConvexError({ code: "BAD_NAME" });
    if (await find(ctx, name)) throw new ConvexError({ code: "TAKEN" });
    await ctx.db.insert("links", { name, target, visits: 0 });
    return urlOf(name);
  },
});

export const visits = query({
  args: { name: v.string() },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, { name }) => (await find(ctx, name))?.visits ?? null,
});

export const list = internalQuery({
  args: {},
  handler: async (ctx) => {
    const links = await ctx.db.query("links").withIndex("by_name").collect();
    return links.map(({ name, target, visits }) => ({
      name,
      target,
      visits,
      url: urlOf(name),
    }));
  },
});

/** Counts a visit and returns where it goes. */
export const visit = internalMutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    const link = await find(ctx, name);
    if (link === null) return null;
    await ctx.db.patch("links", link._id, { visits: link.visits + 1 });
    return link.target;
  },
});

/** The address that a mounted component sees is that of its mount. */
function urlOf(name: string): string {
  return `${env.CONVEX_SITE_URL}/to/${name}`;
}

async function find(ctx: QueryCtx, name: string) {
  return await ctx.db
    .query("links")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
}
