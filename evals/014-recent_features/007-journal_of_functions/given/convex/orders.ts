import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  action,
  internalAction,
  internalMutation,
  internalQuery,
  mutation,
  query,
} from "./_generated/server";
import { journal } from "./journal";

const args = { text: v.string() };
const returns = v.string();

export const place = mutation({
  args,
  returns,
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});

export const change = mutation({
  args,
  returns,
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});

export const close = internalMutation({
  args,
  returns,
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});

export const look = query({
  args,
  returns,
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});

export const inspect = internalQuery({
  args,
  returns,
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});

export const pay = action({
  args,
  returns,
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});

export const refund = internalAction({
  args,
  returns,
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});

/** Everything that is written in a mutation that fails is undone. */
export const placeInVain = mutation({
  args,
  handler: async (ctx, { text }) => {
    await journal(ctx, text);
    throw new Error("In vain");
  },
});

export const payInVain = action({
  args,
  handler: async (ctx, { text }) => {
    await journal(ctx, text);
    throw new Error("In vain");
  },
});

/** Calls functions that call functions. Returns what they wrote, in this order. */
export const everything = action({
  args,
  returns: v.array(v.string()),
  handler: async (ctx, { text }): Promise<string[]> => {
    const before = await journal(ctx, text);
    const checked = await ctx.runQuery(internal.orders.inspect, { text });
    const changed = await ctx.runMutation(internal.orders.twice, { text });
    const repaid = await ctx.runAction(internal.orders.refund, { text });
    return [before, checked, ...changed, repaid, await journal(ctx, text)];
  },
});

export const twice = internalMutation({
  args,
  returns: v.array(v.string()),
  handler: async (ctx, { text }): Promise<string[]> => [
    await journal(ctx, text),
    await ctx.runMutation(internal.orders.close, { text }),
    await ctx.runQuery(internal.orders.inspect, { text }),
    await journal(ctx, text),
  ],
});

export const closeLater = mutation({
  args,
  returns: v.null(),
  handler: async (ctx, { text }): Promise<null> => {
    await ctx.scheduler.runAfter(60_000, internal.orders.close, { text });
    await ctx.scheduler.runAfter(120_000, internal.orders.refund, { text });
    return null;
  },
});
