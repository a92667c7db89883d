import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { doDue, later, memberCalled } from "./access";
import { at, caller, exists, isLoaded, loadedAt, newYearProof, refuse, shift } from "./calendar";
import { costOn } from "./products";

const allowed = (pieces: number) => Number.isInteger(pieces) && Math.abs(pieces - 49.5) < 50;

/** Everything that a member gets on a day, as the member is now. */
export async function itemsFor(ctx: QueryCtx, member: Doc<"members">, day: string) {
  if (member.isSuspended || day > (member.end ?? day)) return [];
  for (const { first, last } of member.away) if (first <= day && last >= day) return [];
  const items = [];
  const weekday = new Date(at(day, -24)).getUTCDay();
  for (const { _id: productId, name } of await ctx.db.query("products").collect()) {
    const once = member.onDays.find((each) => each.productId === productId && each.day === day);
    const usual = member.weekly.find((each) => each.productId === productId);
    const pieces = once === undefined ? (usual?.pieces[weekday] ?? 0) : once.pieces;
    if (pieces > 0) items.push({ productId, name, pieces, cents: await costOn(ctx, productId, day) });
  }
  return items.sort((one, other) => (one.name > other.name ? 1 : -1));
}

/** The member who calls, after everything that is due has been done. */
async function self(ctx: MutationCtx) {
  await doDue(ctx);
  const name = await caller(ctx);
  const known = await memberCalled(ctx, name);
  if (known?.end !== undefined) refuse("CANCELLED");
  if (known !== undefined) return known;
  const today = new Date(Date.now()).toISOString().substring(0, 10);
  const loaded = isLoaded(shift(today, 1)) ? shift(today, 1) : today;
  const blank = { weekly: [], onDays: [], away: [], isSuspended: false };
  const id = await ctx.db.insert("members", { name, loaded, ...blank });
  const date = shift(loaded, 1);
  await later(ctx, loadedAt(date), { what: "load", member: name, date });
  const month = today.substring(0, 7);
  await later(ctx, at(`${newYearProof(month)}-01`, 6), { what: "bill", member: name, month, isLast: false });
  return (await ctx.db.get("members", id)) ?? refuse("NOT_FOUND");
}

export const set = mutation({
  args: { productId: v.id("products"), quantities: v.array(v.number()) },
  handler: async (ctx, { productId, quantities }) => {
    await caller(ctx);
    if ((await ctx.db.get("products", productId)) === null) refuse("NOT_FOUND");
    if (quantities.length !== 7 || quantities.some((each) => !allowed(each))) refuse("INVALID");
    const member = await self(ctx);
    const weekly = member.weekly.filter((each) => each.productId !== productId);
    await ctx.db.patch("members", member._id, { weekly: [...weekly, { productId, pieces: quantities }] });
    return null;
  },
});

export const change = mutation({
  args: { productId: v.id("products"), date: v.string(), quantity: v.union(v.number(), v.null()) },
  handler: async (ctx, { productId, date, quantity }) => {
    await caller(ctx);
    if ((await ctx.db.get("products", productId)) === null) refuse("NOT_FOUND");
    if (!exists(date)) refuse("INVALID");
    if (quantity !== null && !allowed(quantity)) refuse("INVALID");
    const member = await self(ctx);
    if (isLoaded(date)) refuse("CLOSED");
    const onDays = member.onDays.filter((each) => each.productId !== productId || each.day !== date);
    if (quantity !== null) onDays.push({ productId, day: date, pieces: quantity });
    await ctx.db.patch("members", member._id, { onDays });
    return null;
  },
});

export const pause = mutation({
  args: { from: v.string(), to: v.string() },
  handler: async (ctx, { from, to }) => {
    await caller(ctx);
    if (![from, to].every(exists) || from > to) refuse("INVALID");
    const { _id, away } = await self(ctx);
    if (isLoaded(from)) refuse("CLOSED");
    if (shift(from, 27) < to) refuse("TOO_LONG");
    for (let day = from; day <= to; day = shift(day, 1)) {
      if (away.some(({ first, last }) => first <= day && last >= day)) refuse("OVERLAP");
    }
    await ctx.db.patch("members", _id, { away: [...away, { first: from, last: to }] });
    return null;
  },
});

export const endPause = mutation({
  args: { date: v.string() },
  handler: async (ctx, { date }) => {
    await caller(ctx);
    if (!exists(date)) refuse("INVALID");
    const { _id, away } = await self(ctx);
    if (isLoaded(date)) refuse("CLOSED");
    const found = away.find(({ first, last }) => first <= date && last >= date) ?? refuse("NOT_PAUSED");
    const others = away.filter((each) => each !== found);
    const shorter = found.first < date ? [{ first: found.first, last: shift(date, -1) }] : [];
    await ctx.db.patch("members", _id, { away: [...others, ...shorter] });
    return null;
  },
});

export const cancel = mutation({
  args: { date: v.string() },
  handler: async (ctx, { date }) => {
    await caller(ctx);
    if (!exists(date)) refuse("INVALID");
    const { _id, name, loaded } = await self(ctx);
    if (date < loaded) refuse("CLOSED");
    await ctx.db.patch("members", _id, { end: date });
    const month = date.substring(0, 7);
    await later(ctx, at(shift(date, 1), 6), { what: "bill", member: name, month, isLast: true });
    return null;
  },
});
