import { NonRetryableError, vOnCompleteArgs } from "@convex-dev/workpool";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalAction,
  internalMutation,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { urgent } from "./pools";

const GONE = [404, 410];

export const fetchPage = internalAction({
  args: { url: v.string() },
  handler: async (_ctx, { url }): Promise<string> => {
    const response = await fetch(url);
    if (GONE.includes(response.status)) {
      throw new NonRetryableError(`status ${response.status}`);
    }
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    return await response.text();
  },
});

export const pageEnded = internalMutation({
  args: vOnCompleteArgs(v.id("batches"), v.string()),
  handler: async (ctx, { workId, context: batchId, result }) => {
    const page = await ctx.db
      .query("pages")
      .withIndex("by_work", (q) => q.eq("workId", workId))
      .unique();
    const batch = await ctx.db.get("batches", batchId);
    if (page === null || batch === null) return;
    if (result.kind === "success") {
      const body = result.returnValue;
      await ctx.db.patch("pages", page._id, { outcome: "done", body });
    } else {
      await ctx.db.patch("pages", page._id, { outcome: result.kind });
    }
    await ctx.db.patch("batches", batchId, { left: batch.left - 1 });
    if (batch.left === 1) await sendReport(ctx, batch);
  },
});

export async function sendReport(ctx: MutationCtx, batch: Doc<"batches">) {
  const counts = { done: 0, failed: 0, canceled: 0 };
  for (const { outcome } of await pagesOf(ctx, batch._id)) {
    if (outcome !== undefined) counts[outcome] += 1;
  }
  await urgent.enqueueAction(ctx, internal.work.report, {
    callback: batch.callback,
    body: JSON.stringify({ batch: batch._id, ...counts }),
  });
}

export const report = internalAction({
  args: { callback: v.string(), body: v.string() },
  handler: async (_ctx, { callback, body }) => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(callback, { method: "POST", headers, body });
    if (response.status !== 200) throw new Error(`status ${response.status}`);
  },
});

export async function pagesOf(ctx: QueryCtx, batch: Id<"batches">) {
  return await ctx.db
    .query("pages")
    .withIndex("by_batch", (q) => q.eq("batch", batch))
    .collect();
}
