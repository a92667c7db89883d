import { ConvexError } from "convex/values";
import type { Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import schema from "./schema";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

type Task = Infer<(typeof schema.tables.agenda)["validator"]>["what"];

export function fail(code: string): never {
  throw new ConvexError({ code });
}

export async function me(ctx: QueryCtx) {
  return (await ctx.auth.getUserIdentity())?.subject ?? fail("UNAUTHENTICATED");
}

export async function load(ctx: QueryCtx, lot: Id<"lots">) {
  return (await ctx.db.get("lots", lot)) ?? fail("NOT_FOUND");
}

export async function maximaOf(ctx: QueryCtx, lot: Id<"lots">) {
  return await ctx.db
    .query("maxima")
    .withIndex("by_lot", (q) => q.eq("lot", lot))
    .collect();
}

type Maximum = { who: string; most: number; turn: number };

export function judge(lot: Doc<"lots">, maxima: Maximum[]) {
  let [best, next]: (Maximum | null)[] = [null, null];
  for (const each of maxima) {
    const beats = (other: Maximum | null) =>
      other === null || each.most > other.most || (each.most === other.most && each.turn < other.turn);
    if (beats(best)) [best, next] = [each, best];
    else if (beats(next)) next = each;
  }
  if (best === null) return { best: null, price: lot.start, enough: false };
  const enough = lot.reserve === null || best.most >= lot.reserve;
  const price = next === null ? lot.start : next.most + lot.step > best.most ? best.most : next.most + lot.step;
  return { best, price: enough && lot.reserve !== null && lot.reserve > price ? lot.reserve : price, enough };
}

export async function blocked(ctx: QueryCtx, who: string) {
  const lapses = await ctx.db
    .query("lapses")
    .withIndex("by_who", (q) => q.eq("who", who))
    .collect();
  return lapses.filter(({ time }) => Date.now() - time < 30 * DAY).length > 1;
}

export async function note(ctx: MutationCtx, who: string, lot: Id<"lots">) {
  const list = await ctx.db
    .query("lists")
    .withIndex("by_who", (q) => q.eq("who", who))
    .unique();
  if (list === null) await ctx.db.insert("lists", { who, lots: [lot] });
  else if (!list.lots.includes(lot)) await ctx.db.patch("lists", list._id, { lots: [lot, ...list.lots] });
}

/** There is one function that waits, for whatever comes first. */
export async function wake(ctx: MutationCtx, at: number) {
  const alarm = await ctx.db.query("alarm").first();
  if (alarm !== null && alarm.at <= at) return;
  if (alarm !== null) {
    await ctx.scheduler.cancel(alarm.job);
    await ctx.db.delete("alarm", alarm._id);
  }
  await ctx.db.insert("alarm", { at, job: await ctx.scheduler.runAt(at, internal.agenda.tick, {}) });
}

export async function put(ctx: MutationCtx, at: number, what: Task) {
  await ctx.db.insert("agenda", { at, what });
  await wake(ctx, at);
}

export async function strike(ctx: MutationCtx, matches: (what: Task) => boolean) {
  for (const { _id, what } of await ctx.db.query("agenda").collect()) {
    if (matches(what)) await ctx.db.delete("agenda", _id);
  }
}

export async function offersOf(ctx: QueryCtx, lot: Id<"lots">) {
  return await ctx.db
    .query("offers")
    .withIndex("by_lot", (q) => q.eq("lot", lot).eq("isCurrent", true))
    .collect();
}

export async function offer(ctx: MutationCtx, lot: Id<"lots">, who: string, price: number, from: number) {
  const isFirst = (await offersOf(ctx, lot)).length === 0;
  const due = from + (isFirst ? 2 : 1) * DAY;
  const more = { result: "open" as const, isCurrent: true, isFirst, payment: null };
  const id = await ctx.db.insert("offers", { lot, who, price, due, ...more });
  await ctx.db.patch("lots", lot, { phase: "offered" });
  await put(ctx, due, { kind: "due", offer: id });
}

export async function finish(ctx: MutationCtx, id: Id<"lots">) {
  const lot = await load(ctx, id);
  const { best, price, enough } = judge(lot, await maximaOf(ctx, id));
  if (best === null || !enough) await ctx.db.patch("lots", id, { phase: "unsold" });
  else await offer(ctx, id, best.who, price, lot.until);
}

async function clear(ctx: MutationCtx, lot: Id<"lots">) {
  for (const { _id } of await maximaOf(ctx, lot)) await ctx.db.delete("maxima", _id);
  for (const { _id } of await offersOf(ctx, lot)) await ctx.db.patch("offers", _id, { isCurrent: false });
  const log = ctx.db.query("log").withIndex("by_lot", (q) => q.eq("lot", lot));
  for (const { _id } of await log.collect()) await ctx.db.delete("log", _id);
}

export async function drop(ctx: MutationCtx, ended: Doc<"offers">, result: "declined" | "lapsed", time: number) {
  await strike(ctx, (what) => what.kind === "due" && what.offer === ended._id);
  await ctx.db.patch("offers", ended._id, { result, payment: null });
  if (result === "lapsed") await ctx.db.insert("lapses", { who: ended.who, time });
  const lot = await load(ctx, ended.lot);
  const out = (await offersOf(ctx, lot._id)).map(({ who }) => who);
  const { best, price, enough } = judge(lot, (await maximaOf(ctx, lot._id)).filter(({ who }) => !out.includes(who)));
  if (best !== null && enough) {
    await offer(ctx, lot._id, best.who, price, time);
  } else if (lot.wasPutUpAgain) {
    await ctx.db.patch("lots", lot._id, { phase: "closed" });
  } else {
    await clear(ctx, lot._id);
    const until = time + lot.length;
    const fresh = { phase: "open" as const, until, extensionsLeft: 3, bidCount: 0, wasPutUpAgain: true };
    await ctx.db.patch("lots", lot._id, fresh);
    await put(ctx, until, { kind: "end", lot: lot._id });
  }
}

/** The call that is counted now has failed. */
export async function failed(ctx: MutationCtx, charge: Doc<"charges">, isFinal: boolean, at: number) {
  if (!isFinal && charge.call < 3) {
    const pause = charge.call === 1 ? 60_000 : 300_000;
    await ctx.db.patch("charges", charge._id, { call: charge.call + 1 });
    await put(ctx, at + pause, { kind: "call", charge: charge._id, call: charge.call + 1 });
    return;
  }
  const paid = await ctx.db.get("offers", charge.offer);
  if (paid === null) return;
  await ctx.db.patch("offers", paid._id, { payment: null });
  if (paid.due <= Date.now()) await drop(ctx, paid, "lapsed", paid.due > at ? paid.due : at);
}
