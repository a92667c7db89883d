import { v, type Infer } from "convex/values";
import { mutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { day, deadline, dayNumber, fail, household, me, open, text } from "./calendar";
import { wake } from "./invoices";
import type { wish } from "./schema";

type Wish = Infer<typeof wish>;

const fine = (quantity: number) => quantity % 1 === 0 && quantity > -1 && quantity < 100;

function pausesAfter(wishes: Wish[]) {
  let pauses: { from: string; to: string }[] = [];
  for (const each of wishes) {
    if (each.kind === "pause") pauses.push({ from: each.from, to: each.to });
    if (each.kind === "end") {
      const { date } = each;
      pauses = pauses
        .map(({ from, to }) => ({ from, to: from <= date && date <= to ? text(day(date) - 1) : to }))
        .filter(({ from, to }) => from <= to);
    }
  }
  return pauses;
}

async function wishesOf(ctx: QueryCtx, subject: string) {
  const all = await ctx.db.query("wishes").collect();
  return all.filter((each) => each.subject === subject);
}

/** What counts for a date is what was wished before its deadline. */
export async function linesFor(ctx: QueryCtx, subject: string, date: string) {
  const limit = deadline(day(date));
  const customer = await household(ctx, subject);
  const wishes = (await wishesOf(ctx, subject)).filter(({ at }) => at < limit).map((each) => each.wish);
  if (customer === null || date > (customer.lastDate ?? date)) return [];
  if (customer.blocked.some(({ since, until }) => since <= limit && (until ?? limit) >= limit)) return [];
  if (pausesAfter(wishes).some(({ from, to }) => date >= from && date <= to)) return [];
  const lines = [];
  for (const product of await ctx.db.query("products").collect()) {
    let weekly = 0;
    let once: number | null = null;
    for (const each of wishes) {
      if (each.kind === "weekly" && each.productId === product._id) weekly = each.quantities[(day(date) + 3) % 7];
      if (each.kind === "once" && each.productId === product._id && each.date === date) once = each.quantity;
    }
    if ((once ?? weekly) !== 0) lines.push({ product, quantity: once ?? weekly });
  }
  return lines.sort((a, b) => (a.product.name < b.product.name ? -1 : 1));
}

async function mineToChange(ctx: MutationCtx) {
  const subject = await me(ctx);
  const known = await household(ctx, subject);
  if (known !== null && known.lastDate !== null) fail("CANCELLED");
  await wake(ctx);
  return known?._id ?? (await ctx.db.insert("households", { subject, credit: 0, lastDate: null, blocked: [] }));
}

async function remember(ctx: MutationCtx, it: Wish) {
  await ctx.db.insert("wishes", { subject: await me(ctx), at: Date.now(), wish: it });
  return null;
}

export const set = mutation({
  args: { productId: v.id("products"), quantities: v.array(v.number()) },
  handler: async (ctx, args) => {
    await me(ctx);
    if ((await ctx.db.get("products", args.productId)) === null) fail("NOT_FOUND");
    if (args.quantities.filter(fine).length !== 7 || args.quantities.length > 7) fail("INVALID");
    await mineToChange(ctx);
    return await remember(ctx, { kind: "weekly", ...args });
  },
});

export const change = mutation({
  args: { productId: v.id("products"), date: v.string(), quantity: v.union(v.number(), v.null()) },
  handler: async (ctx, args) => {
    await me(ctx);
    if ((await ctx.db.get("products", args.productId)) === null) fail("NOT_FOUND");
    if (dayNumber(args.date) === null || !fine(args.quantity ?? 0)) fail("INVALID");
    await mineToChange(ctx);
    if (!open(args.date)) fail("CLOSED");
    return await remember(ctx, { kind: "once", ...args });
  },
});

export const pause = mutation({
  args: { from: v.string(), to: v.string() },
  handler: async (ctx, { from, to }) => {
    const subject = await me(ctx);
    const days = day(to) - day(from) + 1;
    if (days < 1) fail("INVALID");
    await mineToChange(ctx);
    if (!open(from)) fail("CLOSED");
    if (days > 28) fail("TOO_LONG");
    const others = pausesAfter((await wishesOf(ctx, subject)).map((each) => each.wish));
    if (!others.every((other) => other.to < from || to < other.from)) fail("OVERLAP");
    return await remember(ctx, { kind: "pause", from, to });
  },
});

export const endPause = mutation({
  args: { date: v.string() },
  handler: async (ctx, { date }) => {
    const subject = await me(ctx);
    day(date);
    await mineToChange(ctx);
    if (!open(date)) fail("CLOSED");
    const pauses = pausesAfter((await wishesOf(ctx, subject)).map((each) => each.wish));
    if (!pauses.some(({ from, to }) => from <= date && date <= to)) fail("NOT_PAUSED");
    return await remember(ctx, { kind: "end", date });
  },
});

export const cancel = mutation({
  args: { date: v.string() },
  handler: async (ctx, { date }) => {
    await me(ctx);
    const next = text(day(date) + 1);
    const id = await mineToChange(ctx);
    if (!open(next)) fail("CLOSED");
    await ctx.db.patch("households", id, { lastDate: date });
    return null;
  },
});
