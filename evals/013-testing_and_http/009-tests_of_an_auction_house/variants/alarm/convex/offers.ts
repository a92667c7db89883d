import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction, internalMutation, mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import type { Id } from "./_generated/dataModel";
import { drop, fail, failed, load, me, offersOf, put, strike } from "./rules";

async function own(ctx: QueryCtx, lotId: Id<"lots">) {
  const caller = await me(ctx);
  await load(ctx, lotId);
  const offer = (await offersOf(ctx, lotId)).find(({ who, result }) => who === caller && result === "open");
  if (offer === undefined) return fail("NOT_OFFERED");
  if (offer.payment !== null) fail("PENDING");
  if (offer.due <= Date.now()) fail("NOT_OFFERED");
  return offer;
}

export const pay = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const offer = await own(ctx, lotId);
    const charge = await ctx.db.insert("charges", { offer: offer._id, call: 1 });
    await ctx.db.patch("offers", offer._id, { payment: charge });
    await ctx.scheduler.runAfter(0, internal.offers.call, { charge, call: 1 });
    return null;
  },
});

export const decline = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const offer = await own(ctx, lotId);
    if (offer.isFirst) fail("BINDING");
    await drop(ctx, offer, "declined", Date.now());
    return null;
  },
});

export const mine = query({
  args: {},
  handler: async (ctx) => {
    const caller = await me(ctx);
    const offers = await ctx.db.query("offers").order("desc").collect();
    return offers
      .filter(({ who }) => who === caller)
      .map(({ lot, price, due, result }) => ({ lotId: lot, priceCents: price, dueAt: due, state: result }));
  },
});

const callArgs = { charge: v.id("charges"), call: v.number() };

export const prepare = internalMutation({
  args: callArgs,
  handler: async (ctx, { charge, call }) => {
    const offer = await ctx.db.get("offers", (await ctx.db.get("charges", charge))?.offer ?? fail("NOT_FOUND"));
    if (offer?.result !== "open") return null;
    await put(ctx, Date.now() + 30_000, { kind: "silence", charge, call });
    return { lot: offer.lot, member: offer.who, cents: offer.price };
  },
});

export const call = internalAction({
  args: callArgs,
  handler: async (ctx, { charge, call }): Promise<void> => {
    const body = await ctx.runMutation(internal.offers.prepare, { charge, call });
    if (body === null) return;
    const { cents, lot, member } = body;
    let status = 0;
    try {
      const response = await fetch(new URL("https://payments.example/charges"), {
        method: "POST",
        headers: [
          ["idempotency-key", `auction-${charge}`],
          ["authorization", `Bearer ${process.env.PAYMENTS_KEY ?? ""}`],
        ],
        body: JSON.stringify({ cents, member, lot }),
      });
      ({ status } = response);
    } finally {
      await ctx.runMutation(internal.offers.answered, { charge, call, status });
    }
  },
});

export const answered = internalMutation({
  args: { ...callArgs, status: v.number() },
  handler: async (ctx, { charge, call, status }) => {
    const found = (await ctx.db.get("charges", charge)) ?? fail("NOT_FOUND");
    const offer = await ctx.db.get("offers", found.offer);
    if (offer?.result !== "open") return;
    if (status >= 200 && status <= 299) {
      await ctx.db.patch("offers", offer._id, { result: "paid", payment: null });
      await ctx.db.patch("lots", offer.lot, { phase: "sold" });
      await strike(ctx, (what) => what.kind === "due" && what.offer === offer._id);
    } else if (offer.payment === charge && found.call === call) {
      await strike(ctx, (what) => what.kind === "silence" && what.charge === charge && what.call === call);
      await failed(ctx, found, status === 402, Date.now());
    }
  },
});
