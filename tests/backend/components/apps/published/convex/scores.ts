import { TableAggregate } from "@convex-dev/aggregate";
import { v } from "convex/values";
import { components } from "./_generated/api";
import type { DataModel } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";

const byPoints = new TableAggregate<{ Key: number; DataModel: DataModel; TableName: "scores" }>(components.aggregate, {
  sortKey: (doc) => doc.points,
  sumValue: (doc) => doc.points,
});
const byPlayer = new TableAggregate<{
  Namespace: string;
  Key: number;
  DataModel: DataModel;
  TableName: "scores";
}>(components.byPlayer, { namespace: (doc) => doc.player, sortKey: (doc) => doc.points });

export const add = mutation({
  args: { player: v.string(), points: v.number() },
  handler: async (ctx, score) => {
    const id = await ctx.db.insert("scores", score);
    const doc = (await ctx.db.get(id))!;
    await byPoints.insert(ctx, doc);
    await byPlayer.insert(ctx, doc);
    return id;
  },
});

export const change = mutation({
  args: { id: v.id("scores"), points: v.number() },
  handler: async (ctx, { id, points }) => {
    const old = (await ctx.db.get(id))!;
    await ctx.db.patch(id, { points });
    const doc = (await ctx.db.get(id))!;
    await byPoints.replace(ctx, old, doc);
    await byPlayer.replace(ctx, old, doc);
  },
});

export const remove = mutation({
  args: { id: v.id("scores") },
  handler: async (ctx, { id }) => {
    const old = (await ctx.db.get(id))!;
    await ctx.db.delete(id);
    await byPoints.delete(ctx, old);
    await byPlayer.delete(ctx, old);
  },
});

export const totals = query({
  args: {},
  handler: async (ctx) => ({
    count: await byPoints.count(ctx),
    sum: await byPoints.sum(ctx),
    atLeastFive: await byPoints.count(ctx, { bounds: { lower: { key: 5, inclusive: true } } }),
    best: (await byPoints.max(ctx))?.key ?? null,
  }),
});

export const at = query({
  args: { offset: v.number() },
  handler: async (ctx, { offset }) => (await byPoints.at(ctx, offset)).key,
});

export const rank = query({
  args: { points: v.number() },
  handler: async (ctx, { points }) => await byPoints.indexOf(ctx, points),
});

export const ofPlayer = query({
  args: { player: v.string() },
  handler: async (ctx, { player }) => ({
    count: await byPlayer.count(ctx, { namespace: player }),
    best: (await byPlayer.max(ctx, { namespace: player }))?.key ?? null,
  }),
});
