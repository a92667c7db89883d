import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { DAY, HOUR, fail, judge, load, maximaOf, me, put, strike } from "./rules";

export const create = mutation({
  args: {
    title: v.string(),
    startCents: v.number(),
    stepCents: v.number(),
    reserveCents: v.optional(v.number()),
    buyNowCents: v.optional(v.number()),
    endsAt: v.number(),
  },
  handler: async (ctx, args) => {
    const owner = await me(ctx);
    const length = args.endsAt - Date.now();
    const reserve = args.reserveCents ?? null;
    const buyNow = args.buyNowCents ?? null;
    const isFine =
      /\S/.test(args.title) &&
      [args.startCents, args.stepCents, reserve ?? 1, buyNow ?? 1].every((cents) => cents % 1 === 0 && cents >= 1) &&
      length >= HOUR &&
      length <= 14 * DAY &&
      (reserve === null || reserve > args.startCents) &&
      (buyNow === null || (buyNow > args.startCents && buyNow > (reserve ?? 0)));
    if (!isFine) fail("INVALID");
    const lot = await ctx.db.insert("lots", {
      owner,
      name: args.title,
      start: args.startCents,
      step: args.stepCents,
      reserve,
      buyNow,
      phase: "open",
      until: args.endsAt,
      length,
      extensionsLeft: 3,
      wasPutUpAgain: false,
      bidCount: 0,
    });
    await put(ctx, args.endsAt, { kind: "end", lot });
    return lot;
  },
});

export const withdraw = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const who = await me(ctx);
    const lot = await load(ctx, lotId);
    if (lot.owner !== who) fail("FORBIDDEN");
    if (lot.phase !== "open" || lot.until <= Date.now()) fail("ENDED");
    if (lot.bidCount !== 0) fail("HAS_BIDS");
    await ctx.db.patch("lots", lotId, { phase: "withdrawn" });
    await strike(ctx, (what) => what.kind === "end" && what.lot === lotId);
    return null;
  },
});

export const get = query({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const caller = await me(ctx);
    const lot = await load(ctx, lotId);
    const maxima = await maximaOf(ctx, lotId);
    const { best, price, enough } = judge(lot, maxima);
    return {
      title: lot.name,
      state: lot.phase,
      endsAt: lot.until,
      bids: lot.bidCount,
      leader: best?.who ?? null,
      priceCents: price,
      reserveMet: enough,
      maxCents: maxima.find(({ who }) => who === caller)?.most ?? null,
    };
  },
});

export const open = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => {
    await me(ctx);
    const found = await ctx.db
      .query("lots")
      .withIndex("by_phase", (q) => q.eq("phase", "open"))
      .paginate(paginationOpts);
    return { ...found, page: found.page.map(({ _id, name, until }) => ({ lotId: _id, title: name, endsAt: until })) };
  },
});
