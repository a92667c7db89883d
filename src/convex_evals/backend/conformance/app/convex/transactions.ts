import { v } from "convex/values";
import { api, internal } from "./_generated/api";
import { internalMutation, internalQuery, mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";

const counterNamed = (ctx: QueryCtx, name: string) =>
  ctx.db.query("transactions_counters").withIndex("by_name", (q) => q.eq("name", name)).unique();

const add = (ctx: MutationCtx, group: string, n: number) => ctx.db.insert("transactions_items", { group, n });

export const increment = mutation({
  args: { name: v.string() },
  handler: async (ctx, args) => {
    console.log("attempt");
    const counter = await counterNamed(ctx, args.name);
    if (counter === null) await ctx.db.insert("transactions_counters", { name: args.name, value: 1 });
    else await ctx.db.patch(counter._id, { value: counter.value + 1 });
  },
});

export const counter = query({
  args: { name: v.string() },
  handler: async (ctx, args) => (await counterNamed(ctx, args.name))?.value ?? 0,
});

export const items = query({
  args: { group: v.string() },
  handler: async (ctx, args) =>
    (await ctx.db.query("transactions_items").withIndex("by_group", (q) => q.eq("group", args.group)).collect()).map(
      (item) => item.n,
    ),
});

export const firstItem = query({
  args: { group: v.string() },
  handler: async (ctx, args) => ({
    items: (await ctx.db.query("transactions_items").withIndex("by_group", (q) => q.eq("group", args.group)).take(1)).map(
      (item) => item.n,
    ),
    draw: Math.random(),
  }),
});

export const itemAndDraw = query({
  args: { id: v.id("transactions_items") },
  handler: async (ctx, args) => ({ item: await ctx.db.get(args.id), draw: Math.random() }),
});

export const rangeAndDraw = query({
  args: { group: v.string(), above: v.number() },
  handler: async (ctx, args) => ({
    found: (
      await ctx.db
        .query("transactions_items")
        .withIndex("by_group", (q) => q.eq("group", args.group).gt("n", args.above))
        .collect()
    ).length,
    draw: Math.random(),
  }),
});

export const addItem = mutation({
  args: { group: v.string(), n: v.number() },
  handler: async (ctx, args) => await add(ctx, args.group, args.n),
});

export const setItem = mutation({
  args: { id: v.id("transactions_items"), n: v.number() },
  handler: async (ctx, args) => {
    await ctx.db.patch(args.id, { n: args.n });
  },
});

export const removeItem = mutation({
  args: { id: v.id("transactions_items") },
  handler: async (ctx, args) => {
    await ctx.db.delete(args.id);
  },
});

export const writeThenThrow = mutation({
  args: { group: v.string() },
  handler: async (ctx, args) => {
    await add(ctx, args.group, 1);
    throw new Error("no trace");
  },
});

export const catchesFailedInsert = mutation({
  args: { group: v.string() },
  handler: async (ctx, args) => {
    await add(ctx, args.group, 1);
    try {
      await ctx.db.insert("transactions_items", { group: args.group, n: "wrong" as never });
    } catch {
      // the earlier write stays
    }
    await add(ctx, args.group, 2);
  },
});

export const noop = internalMutation({ args: {}, handler: async () => {} });

export const innerThrows = internalMutation({
  args: { group: v.string() },
  handler: async (ctx, args) => {
    await add(ctx, args.group, 100);
    await ctx.scheduler.runAfter(3_600_000, internal.transactions.noop, {});
    throw new Error("inner");
  },
});

const jobs = async (ctx: QueryCtx) => (await ctx.db.system.query("_scheduled_functions").collect()).length;

export const catchesInner = mutation({
  args: { group: v.string() },
  handler: async (ctx, args): Promise<{ before: number; after: number }> => {
    const before = await jobs(ctx);
    await add(ctx, args.group, 1);
    try {
      await ctx.runMutation(internal.transactions.innerThrows, args);
    } catch {
      await add(ctx, args.group, 2);
    }
    return { before, after: await jobs(ctx) };
  },
});

export const doesNotCatchInner = mutation({
  args: { group: v.string() },
  handler: async (ctx, args): Promise<null> => {
    await add(ctx, args.group, 1);
    return await ctx.runMutation(internal.transactions.innerThrows, args);
  },
});

export const dive = query({
  args: { depth: v.number() },
  handler: async (ctx, args): Promise<number> =>
    args.depth === 0 ? 0 : 1 + (await ctx.runQuery(api.transactions.dive, { depth: args.depth - 1 })),
});

export const mutationFromQuery = query({
  args: {},
  handler: async () =>
    await (globalThis as any).Convex.asyncSyscall(
      "1.0/runUdf",
      JSON.stringify({ udfType: "mutation", name: "transactions:increment", args: { name: "never" } }),
    ),
});

export const countItems = internalQuery({
  args: { group: v.string() },
  handler: async (ctx, args): Promise<number> =>
    (await ctx.db.query("transactions_items").withIndex("by_group", (q) => q.eq("group", args.group)).collect()).length,
});

export const pendingAndStale = mutation({
  args: { group: v.string() },
  handler: async (ctx, args): Promise<{ pending: unknown; stale: unknown }> => {
    await add(ctx, args.group, 1);
    const run = async (udfType: string) =>
      JSON.parse(
        await (globalThis as any).Convex.asyncSyscall(
          "1.0/runUdf",
          JSON.stringify({ udfType, name: "transactions:countItems", args }),
        ),
      );
    return { pending: await run("query"), stale: await run("snapshotQuery") };
  },
});

export const limitedRead = mutation({
  args: { group: v.string() },
  handler: async (ctx, args): Promise<{ failure: string; after: number }> => {
    await add(ctx, args.group, 1);
    await add(ctx, args.group, 2);
    let failure = "";
    try {
      await (globalThis as any).Convex.asyncSyscall(
        "1.0/runUdf",
        JSON.stringify({
          udfType: "query",
          name: "transactions:countItems",
          args,
          transactionLimits: { documentsRead: 1 },
        }),
      );
    } catch (error) {
      failure = (error as Error).message;
    }
    return { failure, after: await ctx.runQuery(internal.transactions.countItems, args) };
  },
});
