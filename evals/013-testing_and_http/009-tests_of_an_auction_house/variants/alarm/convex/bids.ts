import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { blocked, fail, judge, load, maximaOf, me, note, offer, put, strike } from "./rules";

const FIVE_MINUTES = 300_000;

async function check(ctx: QueryCtx, lot: Doc<"lots">, who: string) {
  if (lot.owner === who) fail("OWN_LOT");
  if (lot.phase !== "open" || lot.until <= Date.now()) fail("ENDED");
  if (await blocked(ctx, who)) fail("BLOCKED");
}

export const place = mutation({
  args: { lotId: v.id("lots"), maxCents: v.number() },
  handler: async (ctx, { lotId, maxCents }) => {
    const who = await me(ctx);
    const lot = await load(ctx, lotId);
    if (!Number.isSafeInteger(maxCents) || maxCents < 1) fail("INVALID");
    await check(ctx, lot, who);
    const maxima = await maximaOf(ctx, lotId);
    const { best, price } = judge(lot, maxima);
    if (maxCents < lot.start) fail("TOO_LOW");
    if (best !== null && best.who === who && maxCents <= best.most) fail("TOO_LOW");
    if (best !== null && best.who !== who && maxCents < price + lot.step) fail("TOO_LOW");
    const own = maxima.find((each) => each.who === who);
    const turn = lot.bidCount + 1;
    if (own === undefined) await ctx.db.insert("maxima", { lot: lotId, who, most: maxCents, turn });
    else await ctx.db.patch("maxima", own._id, { most: maxCents, turn });
    const after = judge(lot, await maximaOf(ctx, lotId));
    await ctx.db.insert("log", { lot: lotId, who, price: after.price, time: Date.now() });
    await note(ctx, who, lotId);
    let { until, extensionsLeft } = lot;
    if (best?.who !== who && until < Date.now() + FIVE_MINUTES && extensionsLeft > 0) {
      until += FIVE_MINUTES;
      extensionsLeft -= 1;
      await strike(ctx, (what) => what.kind === "end" && what.lot === lotId);
      await put(ctx, until, { kind: "end", lot: lotId });
    }
    await ctx.db.patch("lots", lotId, { until, extensionsLeft, bidCount: turn });
    return { leads: after.best?.who === who, priceCents: after.price, endsAt: until };
  },
});

export const buyNow = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const who = await me(ctx);
    const lot = await load(ctx, lotId);
    await check(ctx, lot, who);
    const { price } = judge(lot, await maximaOf(ctx, lotId));
    if (lot.buyNow === null || lot.buyNow <= price) return fail("GONE");
    await strike(ctx, (what) => what.kind === "end" && what.lot === lotId);
    await ctx.db.patch("lots", lotId, { until: Date.now() });
    await offer(ctx, lotId, who, lot.buyNow, Date.now());
    return null;
  },
});

export const history = query({
  args: { lotId: v.id("lots"), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { lotId, paginationOpts }) => {
    await me(ctx);
    const found = await ctx.db
      .query("log")
      .withIndex("by_lot", (q) => q.eq("lot", lotId))
      .order("desc")
      .paginate(paginationOpts);
    return { ...found, page: found.page.map(({ who, price, time }) => ({ member: who, priceCents: price, at: time })) };
  },
});
