import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { fail, gadgetsOf, me } from "./rules";

export const register = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    const who = await me(ctx);
    if (name === "" || name.length > 20) fail("INVALID");
    const known = await gadgetsOf(ctx, who);
    if (known.some((each) => each.name === name)) fail("TAKEN");
    if (known.length > 2) fail("TOO_MANY");
    await ctx.db.insert("gadgets", { who, name, last: 0, seen: Date.now() });
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const known = await gadgetsOf(ctx, await me(ctx));
    const rows = known.map(({ name, last, seen }) => ({ syncedAt: seen, done: last, name }));
    return rows.sort((one, other) => (one.name > other.name ? 1 : -1));
  },
});
