import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalAction, internalMutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { endOffer } from "./offers";

const PROVIDER = "https://payments.example/charges";
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const LONGEST_CALL = 30 * SECOND;
const PAUSES = [MINUTE, 5 * MINUTE];
const DECLINED = 402;

export async function isPaying(ctx: QueryCtx, offerId: Id<"offers">) {
  const pending = await ctx.db
    .query("payments")
    .withIndex("by_offer", (q) => q.eq("offerId", offerId).eq("isPending", true))
    .first();
  return pending !== null;
}

export async function startPayment(ctx: MutationCtx, offerId: Id<"offers">) {
  const paymentId = await ctx.db.insert("payments", { offerId, isPending: true, failedCalls: 0 });
  await ctx.scheduler.runAfter(0, internal.payments.call, { paymentId, number: 1 });
}

/** What to send, unless the lot was paid meanwhile. */
export const begin = internalMutation({
  args: { paymentId: v.id("payments"), number: v.number() },
  returns: v.union(v.null(), v.object({ lot: v.id("lots"), member: v.string(), cents: v.number() })),
  handler: async (ctx, { paymentId, number }) => {
    const payment = await ctx.db.get("payments", paymentId);
    const offer = payment && (await ctx.db.get("offers", payment.offerId));
    if (offer?.state !== "open") return null;
    const at = Date.now() + LONGEST_CALL;
    await ctx.scheduler.runAt(at, internal.payments.settle, { paymentId, number, status: null, at });
    return { lot: offer.lotId, member: offer.member, cents: offer.priceCents };
  },
});

export const call = internalAction({
  args: { paymentId: v.id("payments"), number: v.number() },
  returns: v.null(),
  handler: async (ctx, { paymentId, number }) => {
    const charge = await ctx.runMutation(internal.payments.begin, { paymentId, number });
    if (charge === null) return null;
    const headers = {
      Authorization: `Bearer ${process.env.PAYMENTS_KEY ?? ""}`,
      "Content-Type": "application/json",
      "Idempotency-Key": paymentId,
    };
    let status: number | null = null;
    try {
      const response = await fetch(PROVIDER, { method: "POST", headers, body: JSON.stringify(charge) });
      status = response.status;
    } catch {
      // Nobody answers: the call has failed.
    }
    await ctx.runMutation(internal.payments.settle, { paymentId, number, status, at: Date.now() });
    return null;
  },
});

/** The status of the answer, or null if there is none. It may come after the call was given up. */
export const settle = internalMutation({
  args: {
    paymentId: v.id("payments"),
    number: v.number(),
    status: v.union(v.number(), v.null()),
    at: v.number(),
  },
  returns: v.null(),
  handler: async (ctx, { paymentId, number, status, at }) => {
    const payment = await ctx.db.get("payments", paymentId);
    const offer = payment && (await ctx.db.get("offers", payment.offerId));
    if (payment === null || offer?.state !== "open") return null;
    if (status !== null && status >= 200 && status < 300) {
      await ctx.db.patch("offers", offer._id, { state: "paid", endedAt: at });
      await ctx.db.patch("lots", offer.lotId, { state: "sold" });
      return null;
    }
    if (number <= payment.failedCalls) return null;
    await ctx.db.patch("payments", paymentId, { failedCalls: number });
    if (status !== DECLINED && number <= PAUSES.length) {
      const next = { paymentId, number: number + 1 };
      await ctx.scheduler.runAt(at + PAUSES[number - 1], internal.payments.call, next);
      return null;
    }
    await ctx.db.patch("payments", paymentId, { isPending: false });
    if (Date.now() >= offer.dueAt) await endOffer(ctx, offer, "lapsed", Math.max(at, offer.dueAt));
    return null;
  },
});
