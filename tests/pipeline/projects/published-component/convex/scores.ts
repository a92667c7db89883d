import { TableAggregate } from "@convex-dev/aggregate";
import { v } from "convex/values";
import { components } from "./_generated/api";
import type { DataModel } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";

const ranking = new TableAggregate<{ Key: number; DataModel: DataModel; TableName: "scores" }>(components.aggregate, {
  sortKey: (doc) => doc.score,
});

export const add = mutation({
  args: { player: v.string(), score: v.number() },
  handler: async (ctx, args) => {
    const id = await ctx.db.insert("scores", args);
    const doc = await ctx.db.get(id);
    if (doc !== null) await ranking.insert(ctx, doc);
  },
});

export const count = query({ args: {}, handler: async (ctx) => await ranking.count(ctx) });
