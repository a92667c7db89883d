import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalAction, internalMutation, internalQuery, mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { caller, change, current, next, oops } from "./house";

async function mineNow(ctx: QueryCtx, lotId: Id<"lots">) {
  const who = await caller(ctx);
  const { round } = await current(ctx, lotId);
  const offer = round.offers.at(-1);
  if (offer?.member !== who || offer.status !== "open") throw oops("NOT_OFFERED");
  if (offer.payment) throw oops("PENDING");
  if (Date.now() >= offer.dueAt) throw oops("NOT_OFFERED");
  return { round, index: round.offers.length - 1 };
}

export const decline = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const { round, index } = await mineNow(ctx, lotId);
    if (index === 0) throw oops("BINDING");
    await next(ctx, round, "declined", Date.now());
    return null;
  },
});

export const pay = mutation({
  args: { lotId: v.id("lots") },
  handler: async (ctx, { lotId }) => {
    const { round, index } = await mineNow(ctx, lotId);
    const key = crypto.randomUUID();
    const payment = await ctx.db.insert("tries", { round: round._id, offer: index, failures: 0, key });
    await change(ctx, round, index, { payment });
    await ctx.scheduler.runAfter(0, internal.offers.charge, { payment });
    return null;
  },
});

export const timeUp = internalMutation({
  args: { id: v.id("rounds") },
  handler: async (ctx, { id }) => {
    const round = await ctx.db.get("rounds", id);
    const offer = round?.offers.at(-1);
    if (!round || !offer || offer.payment || offer.status !== "open") return;
    await next(ctx, round, "lapsed", offer.dueAt);
  },
});

export const mine = query({
  args: {},
  handler: async (ctx) => {
    const who = await caller(ctx);
    const found = [];
    for await (const { lotId, offers } of ctx.db.query("rounds")) {
      for (const offer of offers) if (offer.member === who) found.push({ ...offer, lotId });
    }
    found.reverse().sort((a, b) => b.madeAt - a.madeAt);
    return found.map(({ lotId, cents, dueAt, status }) => ({
      lotId,
      priceCents: cents,
      dueAt,
      state: status as "open" | "paid" | "declined" | "lapsed",
    }));
  },
});

export const find = internalQuery({
  args: { payment: v.id("tries") },
  handler: async (ctx, { payment }) => {
    const { round: id, offer: index, key, failures } = (await ctx.db.get("tries", payment))!;
    const { lotId, offers } = (await ctx.db.get("rounds", id))!;
    const { member, cents, status } = offers[index];
    if (status !== "open") return null;
    return { key, failures, body: JSON.stringify({ lot: lotId, cents, member }) };
  },
});

export const charge = internalAction({
  args: { payment: v.id("tries") },
  handler: async (ctx, { payment }): Promise<void> => {
    const found = await ctx.runQuery(internal.offers.find, { payment });
    if (!found) return;
    const headers = new Headers({ Authorization: `Bearer ${String(process.env.PAYMENTS_KEY)}` });
    headers.append("Idempotency-Key", found.key);
    const request = new Request("https://payments.example/charges", { method: "POST", headers, body: found.body });
    const began = Date.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<"silence">((resolve) => {
      timer = setTimeout(() => {
        resolve("silence");
      }, 30_000);
    });
    const ask = async () => (await fetch(request)).status;
    const answer = ask().catch(() => 0);
    const first = await Promise.race([answer, silence]);
    clearTimeout(timer);
    const status = first === "silence" ? 0 : first;
    const at = first === "silence" ? began + 30_000 : Date.now();
    await ctx.runMutation(internal.offers.known, { payment, status, inTime: true, at });
    if (first !== "silence") return;
    await ctx.runMutation(internal.offers.known, { payment, status: await answer, inTime: false, at: Date.now() });
  },
});

export const known = internalMutation({
  args: { payment: v.id("tries"), status: v.number(), inTime: v.boolean(), at: v.number() },
  handler: async (ctx, { payment, status, inTime, at }) => {
    const { round: id, offer: index, failures } = (await ctx.db.get("tries", payment))!;
    const round = (await ctx.db.get("rounds", id))!;
    const offer = round.offers[index];
    if (offer.status !== "open") return;
    if (status > 199 && status < 300) {
      await change(ctx, round, index, { status: "paid", payment: null });
      if (round.job) await ctx.scheduler.cancel(round.job);
      await ctx.db.patch("rounds", id, { status: "sold", job: null });
      return;
    }
    if (!inTime) return;
    await ctx.db.patch("tries", payment, { failures: failures + 1 });
    if (status !== 402 && failures < 2) {
      await ctx.scheduler.runAt(at + [60_000, 300_000][failures], internal.offers.charge, { payment });
      return;
    }
    const free = await change(ctx, round, index, { payment: null });
    if (Date.now() >= offer.dueAt) await next(ctx, free, "lapsed", Math.max(offer.dueAt, at));
  },
});
