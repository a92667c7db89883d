import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx } from "./_generated/server";
import { changeLimit, poolOf, useFirstLimit } from "./pools";
import { pagesOf, sendReport } from "./work";

const MOST_AT_ONCE = 10;

export const submit = mutation({
  args: {
    urls: v.array(v.string()),
    urgent: v.boolean(),
    callback: v.string(),
    delay: v.optional(v.number()),
  },
  handler: async (ctx, args): Promise<Id<"batches">> => {
    const { urls, urgent, callback, delay } = args;
    const left = urls.length;
    const batch = { urgent, callback, left };
    const batchId = await ctx.db.insert("batches", batch);
    const workIds = await enqueue(ctx, batchId, urgent, urls, delay);
    for (const [index, url] of urls.entries()) {
      const workId = workIds[index];
      await ctx.db.insert("pages", { batch: batchId, url, workId });
    }
    const made = await ctx.db.get("batches", batchId);
    if (left === 0 && made !== null) await sendReport(ctx, made);
    return batchId;
  },
});

export const list = query({
  args: { batch: v.id("batches") },
  handler: async (ctx, { batch: batchId }) => {
    const batch = await ctx.db.get("batches", batchId);
    if (batch === null) return [];
    const pages = await pagesOf(ctx, batchId);
    const open = pages.filter((page) => page.outcome === undefined);
    const ids = open.map((page) => page.workId);
    const statuses = await poolOf(batch).statusBatch(ctx, ids);
    return pages.map(({ url, workId, outcome, body = null }) => {
      const status = statuses[ids.indexOf(workId)];
      if (outcome !== undefined || status.state === "finished") {
        return { url, state: outcome ?? "waiting", failedTries: null, body };
      }
      const state = status.state === "running" ? "running" : "waiting";
      return { url, state, failedTries: status.previousAttempts, body };
    });
  },
});

export const cancel = mutation({
  args: { batch: v.id("batches") },
  handler: async (ctx, { batch: batchId }): Promise<number> => {
    const batch = await ctx.db.get("batches", batchId);
    if (batch === null) return 0;
    const pages = await pagesOf(ctx, batchId);
    const open = pages.filter((page) => page.outcome === undefined);
    for (const { workId } of open) await poolOf(batch).cancel(ctx, workId);
    return open.length;
  },
});

export const again = mutation({
  args: { batch: v.id("batches") },
  handler: async (ctx, { batch: batchId }): Promise<number> => {
    const batch = await ctx.db.get("batches", batchId);
    if (batch === null || batch.left > 0) return 0;
    const pages = await pagesOf(ctx, batchId);
    const lost = pages.filter((page) => page.outcome !== "done");
    const urls = lost.map((page) => page.url);
    const workIds = await enqueue(ctx, batchId, batch.urgent, urls);
    for (const [index, page] of lost.entries()) {
      await ctx.db.patch("pages", page._id, {
        workId: workIds[index],
        outcome: undefined,
      });
    }
    await ctx.db.patch("batches", batchId, { left: lost.length });
    return lost.length;
  },
});

export const setLimit = mutation({
  args: { limit: v.number() },
  handler: async (ctx, { limit }) => {
    if (!Number.isInteger(limit) || limit < 0 || limit > MOST_AT_ONCE) {
      throw new ConvexError({ code: "BAD_LIMIT" });
    }
    await changeLimit(ctx, limit);
    return null;
  },
});

async function enqueue(
  ctx: MutationCtx,
  batch: Id<"batches">,
  urgent: boolean,
  urls: string[],
  delay?: number,
) {
  await useFirstLimit(ctx);
  return await poolOf({ urgent }).enqueueActionBatch(
    ctx,
    internal.work.fetchPage,
    urls.map((url) => ({ url })),
    {
      onComplete: internal.work.pageEnded,
      context: batch,
      runAfter: delay ?? 0,
    },
  );
}
