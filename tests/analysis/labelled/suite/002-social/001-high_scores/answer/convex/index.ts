import { v } from "convex/values";
import { query } from "./_generated/server";

export const best = query({
  args: { count: v.number() },
  handler: async (ctx, args) => {
    const scores = await ctx.db.query("scores").withIndex("by_points").order("desc").take(args.count);
    return scores.map((score) => score.player);
  },
});

export const getRank = query({
  args: { player: v.string() },
  handler: async (ctx, args) => {
    const own = await ctx.db
      .query("scores")
      .withIndex("by_player", (q) => q.eq("player", args.player))
      .unique();
    if (own === null) {
      return null;
    }
    const better = await ctx.db
      .query("scores")
      .withIndex("by_points", (q) => q.gt("points", own.points))
      .collect();
    return better.length + 1;
  },
});

export const getAverage = query({
  args: {},
  handler: async (ctx) => {
    const scores = await ctx.db.query("scores").collect();
    if (scores.length === 0) {
      return null;
    }
    const total = scores.reduce((sum, score) => sum + score.points, 0);
    return Math.round((total / scores.length) * 10) / 10;
  },
});
