import { paginationOptsValidator, paginationResultValidator } from "convex/server";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { failure, findLot, isOpen, requireMember } from "./access";
import { bidsOf } from "./bids";
import { makeOffer } from "./offers";
import { isAmount, standing } from "./pricing";
import { lotState, terms } from "./schema";

const HOUR = 60 * 60 * 1000;
const SHORTEST = HOUR;
const LONGEST = 14 * 24 * HOUR;

export async function endAt(ctx: MutationCtx, lot: Doc<"lots">, endsAt: number) {
  await ctx.db.patch("lots", lot._id, { endsAt });
  await ctx.scheduler.runAt(endsAt, internal.lots.end, { lotId: lot._id, endsAt });
}

/** As if it were new. */
export async function putUpAgain(ctx: MutationCtx, lot: Doc<"lots">, at: number) {
  await ctx.db.patch("lots", lot._id, { state: "open", round: lot.round + 1, extensions: 0 });
  await endAt(ctx, lot, at + lot.duration);
}

export const create = mutation({
  args: { ...terms, endsAt: v.number() },
  returns: v.id("lots"),
  handler: async (ctx, { title, startCents, stepCents, reserveCents, buyNowCents, endsAt }) => {
    const seller = await requireMember(ctx);
    const duration = endsAt - Date.now();
    const amounts = [startCents, stepCents, reserveCents ?? startCents + 1, buyNowCents ?? startCents + 1];
    if (title.trim() === "" || !amounts.every(isAmount)) throw failure("INVALID");
    if (!(duration >= SHORTEST && duration <= LONGEST)) throw failure("INVALID");
    if (reserveCents !== undefined && reserveCents <= startCents) throw failure("INVALID");
    if (buyNowCents !== undefined && buyNowCents <= (reserveCents ?? startCents)) throw failure("INVALID");
    const lotId = await ctx.db.insert("lots", {
      seller,
      title,
      startCents,
      stepCents,
      reserveCents,
      buyNowCents,
      state: "open",
      endsAt,
      duration,
      round: 1,
      extensions: 0,
    });
    await ctx.scheduler.runAt(endsAt, internal.lots.end, { lotId, endsAt });
    return lotId;
  },
});

export const withdraw = mutation({
  args: { lotId: v.id("lots") },
  returns: v.null(),
  handler: async (ctx, { lotId }) => {
    const member = await requireMember(ctx);
    const lot = await findLot(ctx, lotId);
    if (lot.seller !== member) throw failure("FORBIDDEN");
    if (!isOpen(lot)) throw failure("ENDED");
    const bids = await bidsOf(ctx, lot);
    if (bids.length > 0) throw failure("HAS_BIDS");
    await ctx.db.patch("lots", lotId, { state: "withdrawn" });
    return null;
  },
});

/** Unless the end was put off, or the lot was withdrawn or bought. */
export const end = internalMutation({
  args: { lotId: v.id("lots"), endsAt: v.number() },
  returns: v.null(),
  handler: async (ctx, { lotId, endsAt }) => {
    const lot = await ctx.db.get("lots", lotId);
    if (lot === null || lot.state !== "open" || lot.endsAt !== endsAt) return null;
    const { leader, priceCents, reserveMet } = standing(lot, await bidsOf(ctx, lot));
    if (leader !== null && reserveMet) {
      await makeOffer(ctx, lot, leader, priceCents, endsAt);
    } else {
      await ctx.db.patch("lots", lotId, { state: "unsold" });
    }
    return null;
  },
});

export const get = query({
  args: { lotId: v.id("lots") },
  returns: v.object({
    title: v.string(),
    state: lotState,
    endsAt: v.number(),
    bids: v.number(),
    leader: v.union(v.string(), v.null()),
    priceCents: v.number(),
    reserveMet: v.boolean(),
    maxCents: v.union(v.number(), v.null()),
  }),
  handler: async (ctx, { lotId }) => {
    const member = await requireMember(ctx);
    const lot = await findLot(ctx, lotId);
    const { title, state, endsAt } = lot;
    const bids = await bidsOf(ctx, lot);
    const { leader, priceCents, reserveMet } = standing(lot, bids);
    const maxCents = bids.findLast((bid) => bid.member === member)?.maxCents ?? null;
    return { title, state, endsAt, bids: bids.length, leader, priceCents, reserveMet, maxCents };
  },
});

export const open = query({
  args: { paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(v.object({ lotId: v.id("lots"), title: v.string(), endsAt: v.number() })),
  handler: async (ctx, { paginationOpts }) => {
    await requireMember(ctx);
    const lots = await ctx.db
      .query("lots")
      .withIndex("by_state_and_end", (q) => q.eq("state", "open"))
      .paginate(paginationOpts);
    return { ...lots, page: lots.page.map(({ _id, title, endsAt }) => ({ lotId: _id, title, endsAt })) };
  },
});
