import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

export const HOUR = 60 * 60 * 1000;
export const DAY = 24 * HOUR;
export const HOLD = 48 * HOUR;

async function loansWith(ctx: QueryCtx, toolId: Id<"tools">, status: Doc<"loans">["status"]) {
  return await ctx.db
    .query("loans")
    .withIndex("by_tool_and_status", (q) => q.eq("toolId", toolId).eq("status", status))
    .collect();
}

/** Copies that somebody has or that are held for somebody, and members who wait for one. */
export async function countLoans(ctx: QueryCtx, toolId: Id<"tools">) {
  const held = await loansWith(ctx, toolId, "held");
  const out = await loansWith(ctx, toolId, "out");
  const queued = await loansWith(ctx, toolId, "queued");
  return { taken: held.length + out.length, waiting: queued.length };
}

/** The position in the queue, from 1. */
export async function positionOf(ctx: QueryCtx, loan: Doc<"loans">) {
  const queued = await loansWith(ctx, loan.toolId, "queued");
  return queued.findIndex(({ _id }) => _id === loan._id) + 1;
}

/** Sets a copy aside for a loan, for two days. */
export async function hold(ctx: MutationCtx, loanId: Id<"loans">) {
  const now = Date.now();
  await ctx.db.patch("loans", loanId, { status: "held", since: now, until: now + HOLD });
  await ctx.scheduler.runAt(now + HOLD, internal.loans.expire, { loanId });
}

/** Gives free copies to those who have waited longest. */
export async function serveQueue(ctx: MutationCtx, toolId: Id<"tools">) {
  const tool = await ctx.db.get("tools", toolId);
  if (tool === null) return;
  const { taken } = await countLoans(ctx, toolId);
  const queued = await loansWith(ctx, toolId, "queued");
  for (const loan of queued.slice(0, Math.max(tool.copies - taken, 0))) await hold(ctx, loan._id);
}
