import {
  ActionRetrier,
  onCompleteValidator,
  runIdValidator,
} from "@convex-dev/action-retrier";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  internalAction,
  internalMutation,
  mutation,
  query,
} from "./_generated/server";

const retrier = new ActionRetrier(components.actionRetrier, {
  initialBackoffMs: 15_000,
  base: 2,
  // These are repetitions: 4 tries in all.
  maxFailures: 3,
});

export const place = mutation({
  args: {
    shop: v.string(),
    item: v.string(),
    delay: v.optional(v.number()),
  },
  handler: async (ctx, { shop, item, delay }): Promise<Id<"orders">> => {
    const order = await ctx.db.insert("orders", {
      state: "sending",
      receipt: null,
    });
    const runId = await retrier.runAfter(
      ctx,
      delay ?? 0,
      internal.orders.send,
      { shop, item, order },
      { onComplete: internal.orders.ended },
    );
    await ctx.db.patch("orders", order, { runId });
    return order;
  },
});

export const state = query({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }) => {
    const found = await ctx.db.get("orders", order);
    return found && { state: found.state, receipt: found.receipt };
  },
});

export const cancel = mutation({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }) => {
    const found = await ctx.db.get("orders", order);
    if (found?.state !== "sending" || found.runId === undefined) return false;
    await retrier.cancel(ctx, found.runId);
    return true;
  },
});

/** Returns null if the shop refuses the order; what is thrown is tried again. */
export const send = internalAction({
  args: { shop: v.string(), item: v.string(), order: v.id("orders") },
  handler: async (_ctx, { shop, item, order }): Promise<string | null> => {
    const response = await fetch(`${shop}/orders`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ order, item }),
    });
    if (response.status === 409) return null;
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    const { receipt } = (await response.json()) as { receipt: string };
    return receipt;
  },
});

/** The run is not completed before this mutation ends, so it cannot be cleaned up here. */
export const ended = internalMutation({
  args: onCompleteValidator,
  handler: async (ctx, { runId, result }) => {
    await ctx.scheduler.runAfter(0, internal.orders.cleanUp, { runId });
    const order = await ctx.db
      .query("orders")
      .withIndex("by_run", (q) => q.eq("runId", runId))
      .unique();
    if (order === null) return;
    if (result.type === "success") {
      const receipt = result.returnValue as string | null;
      const state = receipt === null ? "refused" : "sent";
      await ctx.db.patch("orders", order._id, { state, receipt });
    } else {
      await ctx.db.patch("orders", order._id, { state: result.type });
    }
  },
});

export const cleanUp = internalMutation({
  args: { runId: runIdValidator },
  handler: async (ctx, { runId }) => {
    await retrier.cleanup(ctx, runId);
  },
});
