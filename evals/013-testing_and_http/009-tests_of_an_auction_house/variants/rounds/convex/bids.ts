import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { caller, current, mayBuy, offerTo, oops, outcome, schedule, watch } from "./house";

export const place = mutation({
  args: { lotId: v.id("lots"), maxCents: v.number() },
  handler: async (ctx, { lotId, maxCents: max }) => {
    const member = await caller(ctx);
    const { lot, round } = await current(ctx, lotId);
    if (!Number.isInteger(max) || max <= 0) throw oops("INVALID");
    await mayBuy(ctx, member, lot, round);
    const before = outcome(lot.cents, round.bids);
    const enough =
      before.winner === null
        ? max >= lot.cents.start
        : before.winner === member
          ? max > before.max
          : max >= before.price + lot.cents.step;
    if (!enough) throw oops("TOO_LOW");
    const at = Date.now();
    const { winner, price } = outcome(lot.cents, [...round.bids, { member, max }]);
    const bids = [...round.bids, { member, max, price, at }];
    await ctx.db.patch("rounds", round._id, { bids });
    await watch(ctx, member, lotId, true);
    const isLate = round.endsAt - at < 300_000 && before.winner !== member && round.putOff !== 3;
    const endsAt = round.endsAt + (isLate ? 300_000 : 0);
    if (isLate) {
      await ctx.db.patch("rounds", round._id, { putOff: round.putOff + 1 });
      await schedule(ctx, round._id, endsAt);
    }
    return { endsAt, priceCents: price, leads: winner === member };
  },
});

export const buyNow = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const member = await caller(ctx);
    const { lot, round } = await current(ctx, lotId);
    await mayBuy(ctx, member, lot, round);
    const { buyNow } = lot.cents;
    if (buyNow === undefined || outcome(lot.cents, round.bids).price >= buyNow) throw oops("GONE");
    await ctx.db.patch("rounds", round._id, { endsAt: Date.now() });
    await offerTo(ctx, round._id, member, buyNow, Date.now());
    return null;
  },
});

export const history = query({
  args: { lotId: v.id("lots"), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { lotId, paginationOpts: { cursor, numItems } }) => {
    await caller(ctx);
    const { round } = await current(ctx, lotId);
    const rest = cursor === null ? round.bids : round.bids.slice(0, Number(cursor));
    const page = rest.slice(-numItems).reverse();
    const left = rest.length - page.length;
    return {
      page: page.map(({ member, price, at }) => ({ member, priceCents: price, at })),
      isDone: left === 0,
      continueCursor: String(left),
    };
  },
});
