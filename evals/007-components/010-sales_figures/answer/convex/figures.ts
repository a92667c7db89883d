import { v } from "convex/values";
import { query } from "./_generated/server";
import { amounts, cashierAmounts, counter, internalMutation } from "./functions";

const MOST_AT_ONCE = 20;

export const ofShop = query({
  args: { shop: v.string() },
  handler: async (ctx, { shop: namespace }) => {
    const count = await amounts.count(ctx, { namespace });
    if (count === 0) {
      return { count: 0, total: 0, median: null, largest: null };
    }
    const middle = Math.floor((count - 1) / 2);
    return {
      count,
      total: await amounts.sum(ctx, { namespace }),
      median: (await amounts.at(ctx, middle, { namespace })).key,
      largest: (await amounts.at(ctx, -1, { namespace })).key,
    };
  },
});

export const ofCashier = query({
  args: { shop: v.string(), cashier: v.string() },
  handler: async (ctx, { shop: namespace, cashier }) => {
    const theirs = { namespace, bounds: { prefix: [cashier] as [string] } };
    const largest = await cashierAmounts.max(ctx, theirs);
    return {
      count: await cashierAmounts.count(ctx, theirs),
      total: await cashierAmounts.sum(ctx, theirs),
      largest: largest?.sumValue ?? null,
    };
  },
});

export const larger = query({
  args: { sale: v.id("sales") },
  handler: async (ctx, { sale }) => {
    const known = await ctx.db.get("sales", sale);
    if (known === null) {
      return null;
    }
    return await amounts.count(ctx, {
      namespace: known.shop,
      bounds: { lower: { key: known.amount, inclusive: false } },
    });
  },
});

export const ranges = query({
  args: {
    shop: v.string(),
    ranges: v.array(v.object({ from: v.number(), to: v.number() })),
  },
  handler: async (ctx, { shop: namespace, ranges }) => {
    const queries = ranges.map(({ from, to }) => ({
      namespace,
      bounds: {
        lower: { key: from, inclusive: true },
        upper: { key: to, inclusive: false },
      },
    }));
    const counts = await amounts.countBatch(ctx, queries);
    const totals = await amounts.sumBatch(ctx, queries);
    return counts.map((count, index) => ({ count, total: totals[index] }));
  },
});

export const everywhere = query({
  args: {},
  handler: async (ctx) => Math.round(await counter.count(ctx, "sales")),
});

export const roughly = query({
  args: {},
  handler: async (ctx) => await counter.estimateCount(ctx, "sales", 2),
});

export const tidy = internalMutation({
  args: {},
  handler: async (ctx) => {
    await counter.rebalance(ctx, "sales");
    return null;
  },
});

export const catchUp = internalMutation({
  args: {},
  handler: async (ctx) => {
    const sales = await ctx.db
      .query("sales")
      .withIndex("by_counted", (q) => q.eq("counted", undefined))
      .take(MOST_AT_ONCE + 1);
    for (const { _id } of sales.slice(0, MOST_AT_ONCE)) {
      await ctx.db.patch("sales", _id, { counted: true });
    }
    return sales.length <= MOST_AT_ONCE;
  },
});
