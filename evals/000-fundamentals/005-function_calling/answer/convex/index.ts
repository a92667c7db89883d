import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  action,
  internalMutation,
  internalQuery,
  mutation,
  type QueryCtx,
} from "./_generated/server";

const MOST_WEIGHT = 100;
const box = { label: v.string(), weight: v.number() };

export const add = internalMutation({
  args: box,
  handler: async (ctx, { label, weight }) => {
    const id = await ctx.db.insert("boxes", { label, weight });
    if ((await weigh(ctx, label)) > MOST_WEIGHT) {
      throw new Error(`The boxes labeled ${label} are too heavy`);
    }
    return id;
  },
});

export const total = internalQuery({
  args: { label: v.string() },
  handler: async (ctx, { label }) => await weigh(ctx, label),
});

export const addEach = mutation({
  args: { boxes: v.array(v.object(box)) },
  handler: async (ctx, { boxes }): Promise<number> => {
    let added = 0;
    for (const each of boxes) {
      try {
        await ctx.runMutation(internal.index.add, each);
        added += 1;
      } catch {
        // The failed call took back its own writes, and only these.
      }
    }
    return added;
  },
});

export const addAndWeigh = action({
  args: box,
  handler: async (ctx, { label, weight }): Promise<number> => {
    await ctx.runMutation(internal.index.add, { label, weight });
    return await ctx.runQuery(internal.index.total, { label });
  },
});

async function weigh(ctx: QueryCtx, label: string): Promise<number> {
  const boxes = await ctx.db
    .query("boxes")
    .withIndex("by_label", (q) => q.eq("label", label))
    .collect();
  return boxes.reduce((sum, { weight }) => sum + weight, 0);
}
