import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  internalAction,
  internalMutation,
  mutation,
  query,
  type QueryCtx,
} from "./_generated/server";

const MINUTE_MS = 60_000;
const MOST_ATTEMPTS = 6;
const ATTEMPT_MS = 5 * MINUTE_MS;

export const start = mutation({
  args: { order: v.string(), amount: v.number(), bankUrl: v.string() },
  handler: async (ctx, { order, amount, bankUrl }) => {
    if ((await findPayment(ctx, order)) !== null) return null;
    const paymentId = await ctx.db.insert("payments", {
      order,
      amount,
      bankUrl,
      state: "pending",
      receipt: null,
      failedAttempts: 0,
    });
    await ctx.scheduler.runAfter(0, internal.payments.begin, { paymentId });
    return null;
  },
});

export const status = query({
  args: { order: v.string() },
  handler: async (ctx, { order }) => {
    const payment = await findPayment(ctx, order);
    return payment && { state: payment.state, receipt: payment.receipt };
  },
});

export const balance = query({
  args: {},
  handler: async (ctx) => {
    let sum = 0;
    const paid = ctx.db
      .query("payments")
      .withIndex("by_state", (q) => q.eq("state", "paid"));
    for await (const { amount } of paid) sum += amount;
    return sum;
  },
});

/** Begins an attempt. What should happen if nobody hears of it again is arranged before anything can go wrong. */
export const begin = internalMutation({
  args: { paymentId: v.id("payments") },
  handler: async (ctx, { paymentId }) => {
    const payment = await ctx.db.get("payments", paymentId);
    if (payment?.state !== "pending") return;
    const { order, amount, bankUrl, failedAttempts } = payment;
    const attempt = { paymentId, attempt: failedAttempts + 1 };
    await ctx.scheduler.runAfter(0, internal.payments.charge, {
      ...attempt,
      order,
      amount,
      bankUrl,
    });
    await ctx.scheduler.runAfter(ATTEMPT_MS, internal.payments.fail, attempt);
  },
});

export const charge = internalAction({
  args: {
    paymentId: v.id("payments"),
    attempt: v.number(),
    order: v.string(),
    amount: v.number(),
    bankUrl: v.string(),
  },
  handler: async (ctx, { paymentId, attempt, order, amount, bankUrl }) => {
    const outcome = await askBank(bankUrl, paymentId, { order, amount });
    if (outcome === "unknown") {
      await ctx.runMutation(internal.payments.fail, { paymentId, attempt });
    } else {
      await ctx.runMutation(internal.payments.settle, {
        paymentId,
        receipt: outcome === "declined" ? null : outcome.receipt,
      });
    }
  },
});

/** Counts an attempt as failed, unless it has been counted or the payment is over. */
export const fail = internalMutation({
  args: { paymentId: v.id("payments"), attempt: v.number() },
  handler: async (ctx, { paymentId, attempt }) => {
    const payment = await ctx.db.get("payments", paymentId);
    if (payment?.state !== "pending" || payment.failedAttempts >= attempt) {
      return;
    }
    if (attempt >= MOST_ATTEMPTS) {
      await ctx.db.patch("payments", paymentId, { state: "failed" });
      return;
    }
    await ctx.db.patch("payments", paymentId, { failedAttempts: attempt });
    await ctx.scheduler.runAfter(
      MINUTE_MS * 2 ** (attempt - 1),
      internal.payments.begin,
      { paymentId },
    );
  },
});

export const settle = internalMutation({
  args: { paymentId: v.id("payments"), receipt: v.union(v.string(), v.null()) },
  handler: async (ctx, { paymentId, receipt }) => {
    const state = receipt === null ? "declined" : "paid";
    await ctx.db.patch("payments", paymentId, { state, receipt });
  },
});

async function askBank(
  url: string,
  key: string,
  charge: { order: string; amount: number },
): Promise<{ receipt: string } | "declined" | "unknown"> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": key },
      body: JSON.stringify(charge),
    });
    if (response.status === 402) return "declined";
    if (response.status !== 200) return "unknown";
    return (await response.json()) as { receipt: string };
  } catch {
    return "unknown";
  }
}

async function findPayment(ctx: QueryCtx, order: string) {
  return await ctx.db
    .query("payments")
    .withIndex("by_order", (q) => q.eq("order", order))
    .unique();
}
