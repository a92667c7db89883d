import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { load, me, note } from "./rules";

export const add = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const who = await me(ctx);
    await load(ctx, lotId);
    await note(ctx, who, lotId);
    return null;
  },
});

export const remove = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const who = await me(ctx);
    await load(ctx, lotId);
    for (const list of await ctx.db.query("lists").collect()) {
      if (list.who === who) await ctx.db.patch("lists", list._id, { lots: list.lots.filter((lot) => lot !== lotId) });
    }
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const who = await me(ctx);
    const list = await ctx.db
      .query("lists")
      .withIndex("by_who", (q) => q.eq("who", who))
      .unique();
    const lots = await Promise.all((list?.lots ?? []).map((lot) => load(ctx, lot)));
    return lots.map(({ _id, name, phase }) => ({ lotId: _id, title: name, state: phase }));
  },
});
