import { vOnCompleteArgs, vWorkId, Workpool } from "@convex-dev/workpool";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import { internalAction, internalMutation, mutation, query } from "./_generated/server";

const fast = new Workpool(components.fastPool, { maxParallelism: 4 });
const slow = new Workpool(components.slowPool, {
  maxParallelism: 1,
  retryActionsByDefault: true,
  defaultRetryBehavior: { maxAttempts: 3, initialBackoffMs: 10, base: 2 },
});
const options = { onComplete: internal.jobs.done };

export const enqueueAction = mutation({
  args: { text: v.string() },
  handler: async (ctx, { text }): Promise<string> =>
    await fast.enqueueAction(ctx, internal.jobs.shout, { text }, { ...options, context: { topic: "action" } }),
});

export const enqueueMutations = mutation({
  args: { texts: v.array(v.string()) },
  handler: async (ctx, { texts }): Promise<string[]> => {
    const args = texts.map((text) => ({ topic: "mutations", text }));
    return await slow.enqueueMutationBatch(ctx, internal.events.record, args);
  },
});

export const enqueueFailing = mutation({
  args: {},
  handler: async (ctx): Promise<string> =>
    await slow.enqueueAction(ctx, internal.jobs.fail, {}, { ...options, context: { topic: "failing" } }),
});

export const enqueueForLater = mutation({
  args: {},
  handler: async (ctx): Promise<string> =>
    await fast.enqueueAction(
      ctx,
      internal.jobs.shout,
      { text: "never" },
      { ...options, context: { topic: "later" }, runAfter: 3_600_000 },
    ),
});

export const cancel = mutation({
  args: { id: vWorkId },
  handler: async (ctx, { id }) => await fast.cancel(ctx, id),
});

export const status = query({
  args: { id: vWorkId },
  handler: async (ctx, { id }) => (await fast.status(ctx, id)).state,
});

export const shout = internalAction({
  args: { text: v.string() },
  handler: async (_, { text }) => text.toUpperCase(),
});

export const fail = internalAction({
  args: {},
  handler: async (ctx) => {
    await ctx.runMutation(internal.events.record, { topic: "attempts", text: "another attempt" });
    throw new Error("always");
  },
});

export const done = internalMutation({
  args: vOnCompleteArgs(v.object({ topic: v.string() })),
  handler: async (ctx, { context, result }) => {
    const text = result.kind === "success" ? `success: ${result.returnValue}` : result.kind;
    await ctx.db.insert("events", { topic: context.topic, text });
  },
});
