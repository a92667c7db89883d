import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { failure, findLot, requireMember } from "./access";
import { bidsOf } from "./bids";
import { putUpAgain } from "./lots";
import { isPaying, startPayment } from "./payments";
import { standing } from "./pricing";
import { offerState } from "./schema";

const HOUR = 60 * 60 * 1000;
const FIRST_TIME = 48 * HOUR;
const FURTHER_TIME = 24 * HOUR;
const BLOCKING_TIME = 30 * 24 * HOUR;
const BLOCKING_LAPSES = 2;
const MOST_ROUNDS = 2;

/** Those since the lot was put up, the oldest first. */
async function offersOf(ctx: QueryCtx, { _id, round }: Doc<"lots">) {
  return await ctx.db
    .query("offers")
    .withIndex("by_lot", (q) => q.eq("lotId", _id).eq("round", round))
    .collect();
}

export async function isBlocked(ctx: QueryCtx, member: string) {
  const lapsed = await ctx.db
    .query("offers")
    .withIndex("by_member_and_end", (q) =>
      q
        .eq("member", member)
        .eq("state", "lapsed")
        .gt("endedAt", Date.now() - BLOCKING_TIME),
    )
    .take(BLOCKING_LAPSES);
  return lapsed.length >= BLOCKING_LAPSES;
}

/** The member has until the offer is due to pay, from the end of the lot or of the previous offer. */
export async function makeOffer(ctx: MutationCtx, lot: Doc<"lots">, member: string, priceCents: number, from: number) {
  const { _id: lotId, round } = lot;
  const earlier = await offersOf(ctx, lot);
  const dueAt = from + (earlier.length === 0 ? FIRST_TIME : FURTHER_TIME);
  const state = { state: "open" as const, endedAt: null };
  const offerId = await ctx.db.insert("offers", { lotId, round, member, priceCents, dueAt, ...state });
  await ctx.db.patch("lots", lotId, { state: "offered" });
  await ctx.scheduler.runAt(dueAt, internal.offers.lapse, { offerId });
}

/** Unpaid: it is the turn of the next member, if there is one. */
export async function endOffer(ctx: MutationCtx, offer: Doc<"offers">, state: "declined" | "lapsed", endedAt: number) {
  await ctx.db.patch("offers", offer._id, { state, endedAt });
  const lot = await findLot(ctx, offer.lotId);
  const had = new Set((await offersOf(ctx, lot)).map(({ member }) => member));
  const others = (await bidsOf(ctx, lot)).filter(({ member }) => !had.has(member));
  const { leader, priceCents, reserveMet } = standing(lot, others);
  if (leader !== null && reserveMet) {
    await makeOffer(ctx, lot, leader, priceCents, endedAt);
  } else if (lot.round < MOST_ROUNDS) {
    await putUpAgain(ctx, lot, endedAt);
  } else {
    await ctx.db.patch("lots", lot._id, { state: "closed" });
  }
}

/** The time is up. If a payment is under way, its result decides. */
export const lapse = internalMutation({
  args: { offerId: v.id("offers") },
  returns: v.null(),
  handler: async (ctx, { offerId }) => {
    const offer = await ctx.db.get("offers", offerId);
    if (offer === null || offer.state !== "open" || (await isPaying(ctx, offerId))) return null;
    await endOffer(ctx, offer, "lapsed", offer.dueAt);
    return null;
  },
});

/** The offer that the caller can pay or decline, and how many there were since the lot was put up. */
async function ownOffer(ctx: QueryCtx, lotId: Id<"lots">) {
  const caller = await requireMember(ctx);
  const offers = await offersOf(ctx, await findLot(ctx, lotId));
  const offer = offers.find(({ member, state }) => member === caller && state === "open");
  if (offer === undefined) throw failure("NOT_OFFERED");
  if (await isPaying(ctx, offer._id)) throw failure("PENDING");
  if (Date.now() >= offer.dueAt) throw failure("NOT_OFFERED");
  return { offer, count: offers.length };
}

export const pay = mutation({
  args: { lotId: v.id("lots") },
  returns: v.null(),
  handler: async (ctx, { lotId }) => {
    const { offer } = await ownOffer(ctx, lotId);
    await startPayment(ctx, offer._id);
    return null;
  },
});

export const decline = mutation({
  args: { lotId: v.id("lots") },
  returns: v.null(),
  handler: async (ctx, { lotId }) => {
    const { offer, count } = await ownOffer(ctx, lotId);
    if (count === 1) throw failure("BINDING");
    await endOffer(ctx, offer, "declined", Date.now());
    return null;
  },
});

export const mine = query({
  args: {},
  returns: v.array(
    v.object({ lotId: v.id("lots"), priceCents: v.number(), dueAt: v.number(), state: offerState }),
  ),
  handler: async (ctx) => {
    const member = await requireMember(ctx);
    const offers = await ctx.db
      .query("offers")
      .withIndex("by_member", (q) => q.eq("member", member))
      .order("desc")
      .collect();
    return offers.map(({ lotId, priceCents, dueAt, state }) => ({ lotId, priceCents, dueAt, state }));
  },
});
