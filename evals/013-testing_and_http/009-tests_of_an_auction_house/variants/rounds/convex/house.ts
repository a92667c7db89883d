import { ConvexError } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

export const DAYS = 86_400_000;

export const oops = (code: string) => new ConvexError({ code });

export async function caller(ctx: QueryCtx) {
  const user = await ctx.auth.getUserIdentity();
  if (!user) throw oops("UNAUTHENTICATED");
  return user.subject;
}

/** A lot and what has happened since it was put up. */
export async function current(ctx: QueryCtx, lotId: Id<"lots">) {
  const lot = await ctx.db.get("lots", lotId);
  const round = await ctx.db
    .query("rounds")
    .withIndex("by_lot", (q) => q.eq("lotId", lotId))
    .order("desc")
    .first();
  if (!lot || !round) throw oops("NOT_FOUND");
  return { lot, round };
}

export function outcome({ start, step, reserve }: Doc<"lots">["cents"], bids: { member: string; max: number }[]) {
  const top: { member: string; max: number }[] = [];
  for (const member of new Set(bids.map((bid) => bid.member))) {
    const max = Math.max(...bids.filter((bid) => bid.member === member).map((bid) => bid.max));
    top.push({ member, max });
  }
  const made = ({ member, max }: { member: string; max: number }) =>
    bids.findIndex((bid) => bid.member === member && bid.max === max);
  top.sort((a, b) => (a.max === b.max ? made(a) - made(b) : b.max - a.max));
  if (top.length === 0) return { winner: null, max: 0, price: start, good: false };
  const [{ member: winner, max }] = top;
  const good = max >= (reserve ?? 0);
  const competition = top.length > 1 ? Math.min(max, top[1].max + step) : start;
  return { winner, max, price: good ? Math.max(competition, reserve ?? 0) : competition, good };
}

export async function mayBuy(ctx: QueryCtx, who: string, lot: Doc<"lots">, round: Doc<"rounds">) {
  if (who === lot.seller) throw oops("OWN_LOT");
  if (round.status !== "open" || Date.now() >= round.endsAt) throw oops("ENDED");
  let lapses = 0;
  for await (const { offers } of ctx.db.query("rounds")) {
    for (const { member, lapsedAt } of offers) {
      if (member === who && lapsedAt !== undefined && lapsedAt + 30 * DAYS > Date.now()) lapses += 1;
    }
  }
  if (lapses >= 2) throw oops("BLOCKED");
}

export async function watch(ctx: MutationCtx, who: string, lotId: Id<"lots">, wanted: boolean) {
  const all = await ctx.db.query("watched").collect();
  const found = all.find((each) => each.who === who && each.lotId === lotId && !each.gone);
  if (wanted && !found) await ctx.db.insert("watched", { who, lotId, gone: false });
  if (!wanted && found) await ctx.db.patch("watched", found._id, { gone: true });
}

export async function schedule(ctx: MutationCtx, id: Id<"rounds">, endsAt: number) {
  const round = await ctx.db.get("rounds", id);
  if (round?.job) await ctx.scheduler.cancel(round.job);
  const job = await ctx.scheduler.runAt(endsAt, internal.lots.close, { id });
  await ctx.db.patch("rounds", id, { endsAt, job });
}

export async function begin(ctx: MutationCtx, lotId: Id<"lots">, number: number, endsAt: number) {
  const fresh = { status: "open", putOff: 0, job: null, bids: [], offers: [] };
  await schedule(ctx, await ctx.db.insert("rounds", { lotId, number, endsAt, ...fresh }), endsAt);
}

export async function offerTo(ctx: MutationCtx, id: Id<"rounds">, member: string, cents: number, madeAt: number) {
  const round = await ctx.db.get("rounds", id);
  if (!round) return;
  if (round.job) await ctx.scheduler.cancel(round.job);
  const dueAt = madeAt + (round.offers.length > 0 ? 1 : 2) * DAYS;
  const job = await ctx.scheduler.runAfter(dueAt - Date.now(), internal.offers.timeUp, { id });
  const offers = [...round.offers, { member, cents, dueAt, madeAt, status: "open", payment: null }];
  await ctx.db.patch("rounds", id, { status: "offered", offers, job });
}

export async function change(
  ctx: MutationCtx,
  round: Doc<"rounds">,
  index: number,
  changes: Partial<Doc<"rounds">["offers"][number]>,
) {
  const offers = round.offers.map((each, at) => (at === index ? { ...each, ...changes } : each));
  await ctx.db.patch("rounds", round._id, { offers });
  return { ...round, offers };
}

/** The last offer ends unpaid. */
export async function next(ctx: MutationCtx, before: Doc<"rounds">, status: "declined" | "lapsed", at: number) {
  const ended = { status, payment: null, ...(status === "lapsed" ? { lapsedAt: at } : {}) };
  const round = await change(ctx, before, before.offers.length - 1, ended);
  if (round.job && status === "declined") await ctx.scheduler.cancel(round.job);
  await ctx.db.patch("rounds", round._id, { job: null });
  const { lot } = await current(ctx, round.lotId);
  const left = round.bids.filter(({ member }) => !round.offers.some((offer) => offer.member === member));
  const { winner, price, good } = outcome(lot.cents, left);
  if (winner !== null && good) return await offerTo(ctx, round._id, winner, price, at);
  await ctx.db.patch("rounds", round._id, { status: "closed" });
  if (round.number === 1) await begin(ctx, lot._id, 2, at + lot.to - lot.from);
}
