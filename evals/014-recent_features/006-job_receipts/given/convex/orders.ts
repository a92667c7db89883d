import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  action,
  internalAction,
  internalMutation,
  mutation,
} from "./_generated/server";

const items = v.array(v.string());
const job = v.id("_scheduled_functions");
type Job = Id<"_scheduled_functions">;

/** Packs at once. Returns the receipts. */
export const packNow = mutation({
  args: { items },
  returns: v.array(v.string()),
  handler: async (ctx, args): Promise<string[]> => {
    const receipts: string[] = [];
    for (const item of args.items)
      receipts.push(await ctx.runMutation(internal.work.pack, { item }));
    return receipts;
  },
});

/** The same, in several transactions at a time. */
export const packAtTheSameTime = action({
  args: { items },
  returns: v.array(v.string()),
  handler: async (ctx, args): Promise<string[]> =>
    await Promise.all(
      args.items.map((item) => ctx.runMutation(internal.work.pack, { item })),
    ),
});

export const packLater = mutation({
  args: { item: v.string(), seconds: v.number() },
  returns: job,
  handler: async (ctx, { item, seconds }): Promise<Job> =>
    await ctx.scheduler.runAfter(seconds * 1000, internal.work.pack, { item }),
});

/** One job for each item, a minute apart. Returns the first. */
export const packOneByOne = mutation({
  args: { items, seconds: v.number() },
  returns: job,
  handler: async (ctx, args): Promise<Job> =>
    await ctx.scheduler.runAfter(
      args.seconds * 1000,
      internal.orders.packFirst,
      { items: args.items },
    ),
});

export const shipLater = mutation({
  args: { items, url: v.string(), seconds: v.number() },
  returns: job,
  handler: async (ctx, { seconds, ...order }): Promise<Job> =>
    await ctx.scheduler.runAfter(seconds * 1000, internal.orders.ship, order),
});

export const cancel = mutation({
  args: { job },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => {
    await ctx.scheduler.cancel(args.job);
    return null;
  },
});

export const packFirst = internalMutation({
  args: { items },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => {
    const [item, ...rest] = args.items;
    await ctx.runMutation(internal.work.pack, { item });
    if (rest.length > 0)
      await ctx.scheduler.runAfter(60_000, internal.orders.packFirst, {
        items: rest,
      });
    return null;
  },
});

/** Tries three times, each time from the beginning. */
export const ship = internalAction({
  args: { items, url: v.string() },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const receipts = await ctx.runAction(internal.orders.packAll, {
        items: args.items,
      });
      const response = await fetch(args.url, {
        method: "POST",
        body: JSON.stringify({ receipts }),
      });
      if (response.ok) return null;
    }
    throw new Error("Could not ship");
  },
});

export const packAll = internalAction({
  args: { items },
  returns: v.array(v.string()),
  handler: async (ctx, args): Promise<string[]> =>
    await Promise.all(
      args.items.map((item) =>
        ctx.runMutation(internal.orders.packOne, { item }),
      ),
    ),
});

export const packOne = internalMutation({
  args: { item: v.string() },
  returns: v.string(),
  handler: async (ctx, { item }): Promise<string> =>
    await ctx.runMutation(internal.work.pack, { item }),
});
