import { paginationOptsValidator, paginationResultValidator } from "convex/server";
import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { failure, findLot, isOpen, requireMember } from "./access";
import { endAt } from "./lots";
import { isBlocked, makeOffer } from "./offers";
import { isAmount, standing } from "./pricing";
import { addWatch } from "./watching";

const MINUTE = 60 * 1000;
const LAST_MINUTES = 5 * MINUTE;
const EXTENSION = 5 * MINUTE;
const MOST_EXTENSIONS = 3;

/** Those since the lot was put up, the oldest first. */
export async function bidsOf(ctx: QueryCtx, lot: Doc<"lots">) {
  return await ctx.db
    .query("bids")
    .withIndex("by_lot", (q) => q.eq("lotId", lot._id).eq("round", lot.round))
    .collect();
}

async function checkBuyer(ctx: QueryCtx, lot: Doc<"lots">, member: string) {
  if (lot.seller === member) throw failure("OWN_LOT");
  if (!isOpen(lot)) throw failure("ENDED");
  if (await isBlocked(ctx, member)) throw failure("BLOCKED");
}

export const place = mutation({
  args: { lotId: v.id("lots"), maxCents: v.number() },
  returns: v.object({ leads: v.boolean(), priceCents: v.number(), endsAt: v.number() }),
  handler: async (ctx, { lotId, maxCents }) => {
    const member = await requireMember(ctx);
    const lot = await findLot(ctx, lotId);
    if (!isAmount(maxCents)) throw failure("INVALID");
    await checkBuyer(ctx, lot, member);
    const bids = await bidsOf(ctx, lot);
    const before = standing(lot, bids);
    const led = before.leader === member;
    const price = bids.length === 0 ? lot.startCents : before.priceCents + lot.stepCents;
    if (maxCents < (led ? before.maxCents + 1 : price)) throw failure("TOO_LOW");

    const now = Date.now();
    const { leader, priceCents } = standing(lot, [...bids, { member, maxCents }]);
    await ctx.db.insert("bids", { lotId, round: lot.round, member, maxCents, priceCents, at: now });
    await addWatch(ctx, member, lotId);

    let { endsAt } = lot;
    if (!led && endsAt - now < LAST_MINUTES && lot.extensions < MOST_EXTENSIONS) {
      endsAt += EXTENSION;
      await ctx.db.patch("lots", lotId, { extensions: lot.extensions + 1 });
      await endAt(ctx, lot, endsAt);
    }
    return { leads: leader === member, priceCents, endsAt };
  },
});

export const buyNow = mutation({
  args: { lotId: v.id("lots") },
  returns: v.null(),
  handler: async (ctx, { lotId }) => {
    const member = await requireMember(ctx);
    const lot = await findLot(ctx, lotId);
    await checkBuyer(ctx, lot, member);
    const { priceCents } = standing(lot, await bidsOf(ctx, lot));
    if (lot.buyNowCents === undefined || priceCents >= lot.buyNowCents) throw failure("GONE");
    const endsAt = Date.now();
    await ctx.db.patch("lots", lotId, { endsAt });
    await makeOffer(ctx, lot, member, lot.buyNowCents, endsAt);
    return null;
  },
});

export const history = query({
  args: { lotId: v.id("lots"), paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(v.object({ member: v.string(), priceCents: v.number(), at: v.number() })),
  handler: async (ctx, { lotId, paginationOpts }) => {
    await requireMember(ctx);
    const { round } = await findLot(ctx, lotId);
    const bids = await ctx.db
      .query("bids")
      .withIndex("by_lot", (q) => q.eq("lotId", lotId).eq("round", round))
      .order("desc")
      .paginate(paginationOpts);
    return { ...bids, page: bids.page.map(({ member, priceCents, at }) => ({ member, priceCents, at })) };
  },
});
