import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { caller, current, watch } from "./house";

export const add = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const who = await caller(ctx);
    await current(ctx, lotId);
    await watch(ctx, who, lotId, true);
    return null;
  },
});

export const remove = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const who = await caller(ctx);
    await current(ctx, lotId);
    await watch(ctx, who, lotId, false);
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const who = await caller(ctx);
    const lots = [];
    for (const { lotId } of (await ctx.db.query("watched").order("desc").collect()).filter(
      (each) => each.who === who && !each.gone,
    )) {
      const { lot, round } = await current(ctx, lotId);
      lots.push({ lotId, title: lot.title, state: round.status as "open" });
    }
    return lots;
  },
});
