import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";
import { DAYS, begin, caller, current, offerTo, oops, outcome } from "./house";

const whole = (cents: number) => Math.floor(cents) === cents && cents > 0;

export const create = mutation({
  args: {
    title: v.string(),
    startCents: v.number(),
    stepCents: v.number(),
    reserveCents: v.optional(v.number()),
    buyNowCents: v.optional(v.number()),
    endsAt: v.number(),
  },
  handler: async (ctx, { title, startCents: start, stepCents: step, reserveCents, buyNowCents, endsAt: to }) => {
    const seller = await caller(ctx);
    const from = Date.now();
    if (title.replace(/\s+/g, "").length === 0 || !whole(start) || !whole(step)) throw oops("INVALID");
    if (to < from + DAYS / 24 || to > from + 14 * DAYS) throw oops("INVALID");
    let least = start;
    for (const cents of [reserveCents, buyNowCents]) {
      if (cents === undefined) continue;
      if (!whole(cents) || cents <= least) throw oops("INVALID");
      least = cents;
    }
    const cents = { start, step, reserve: reserveCents, buyNow: buyNowCents };
    const lotId = await ctx.db.insert("lots", { seller, title, from, to, cents });
    await begin(ctx, lotId, 1, to);
    return lotId;
  },
});

export const withdraw = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const who = await caller(ctx);
    const { lot, round } = await current(ctx, lotId);
    if (lot.seller !== who) throw oops("FORBIDDEN");
    if (round.status !== "open" || Date.now() >= round.endsAt) throw oops("ENDED");
    if (round.bids.length) throw oops("HAS_BIDS");
    if (round.job) await ctx.scheduler.cancel(round.job);
    await ctx.db.patch("rounds", round._id, { status: "withdrawn", job: null });
    return null;
  },
});

export const close = internalMutation({
  args: { id: v.id("rounds") },
  handler: async (ctx, { id }) => {
    const round = await ctx.db.get("rounds", id);
    const lot = round && (await ctx.db.get("lots", round.lotId));
    if (!round || !lot) return;
    await ctx.db.patch("rounds", id, { job: null });
    const { winner, price, good } = outcome(lot.cents, round.bids);
    if (winner !== null && good) await offerTo(ctx, id, winner, price, round.endsAt);
    else await ctx.db.patch("rounds", id, { status: "unsold" });
  },
});

export const get = query({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const who = await caller(ctx);
    const { lot, round } = await current(ctx, lotId);
    const { winner, price, good } = outcome(lot.cents, round.bids);
    const own = round.bids.filter(({ member }) => member === who).map(({ max }) => max);
    return {
      maxCents: own.length > 0 ? Math.max(...own) : null,
      reserveMet: good,
      priceCents: price,
      leader: winner,
      bids: round.bids.length,
      endsAt: round.endsAt,
      state: round.status as "open" | "withdrawn" | "unsold" | "offered" | "sold" | "closed",
      title: lot.title,
    };
  },
});

export const open = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => {
    await caller(ctx);
    const rounds = await ctx.db.query("rounds").withIndex("by_end").paginate(paginationOpts);
    const page = [];
    for (const { lotId, status, endsAt } of rounds.page) {
      const lot = await ctx.db.get("lots", lotId);
      if (status === "open" && lot) page.push({ lotId, title: lot.title, endsAt });
    }
    return { ...rounds, page };
  },
});
