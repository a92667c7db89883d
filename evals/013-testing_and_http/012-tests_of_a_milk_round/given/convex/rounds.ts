import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { internalMutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { failure, requireStaff } from "./access";
import { accountOf, addCredit } from "./accounts";
import { addDays, cutOffOf, firstDayOf, isDate, monthOf, morningOf, today } from "./calendar";
import { plannedFor } from "./plans";
import { priceOn } from "./products";

const DAYS_FOR_REPORTS = 7;

const line = v.object({ product: v.string(), quantity: v.number() });

async function deliveriesOn(ctx: QueryCtx, account: Doc<"accounts">, date: string) {
  const deliveries = await ctx.db
    .query("deliveries")
    .withIndex("by_account_and_date", (q) => q.eq("accountId", account._id).eq("date", date))
    .collect();
  return await Promise.all(
    deliveries.map(async (delivery) => {
      const product = await ctx.db.get("products", delivery.productId);
      return { ...delivery, name: product?.name ?? "" };
    }),
  );
}

/** Runs at the cut-off of every date, until the last invoice. Invoices are made in the morning that follows. */
export const fix = internalMutation({
  args: { accountId: v.id("accounts"), date: v.string() },
  returns: v.null(),
  handler: async (ctx, { accountId, date }) => {
    const account = await ctx.db.get("accounts", accountId);
    if (account === null) return null;
    for (const { productId, quantity } of await plannedFor(ctx, account, date)) {
      const unitCents = await priceOn(ctx, productId, date);
      await ctx.db.insert("deliveries", { accountId, date, productId, quantity, unitCents, missed: 0 });
    }
    await ctx.db.patch("accounts", accountId, { fixedUntil: date });
    const dayBefore = addDays(date, -1);
    const isOver = account.lastDate === dayBefore;
    if (isOver || date === firstDayOf(monthOf(date))) {
      const args = { accountId, month: monthOf(dayBefore), date };
      await ctx.scheduler.runAt(morningOf(date), internal.invoices.make, args);
    }
    if (isOver) return null;
    const next = addDays(date, 1);
    await ctx.scheduler.runAt(cutOffOf(next), internal.rounds.fix, { accountId, date: next });
    return null;
  },
});

/** A delivery that did not arrive, or not all of it. Refused reports can be sent again. */
export const reportMissed = internalMutation({
  args: { report: v.string(), customer: v.string(), product: v.string(), date: v.string(), quantity: v.number() },
  returns: v.object({ status: v.number(), cents: v.number() }),
  handler: async (ctx, { report, customer, product, date, quantity }) => {
    const known = await ctx.db
      .query("reports")
      .withIndex("by_report", (q) => q.eq("report", report))
      .unique();
    if (known !== null) return { status: 200, cents: known.cents };
    const account = await accountOf(ctx, customer);
    const deliveries = account === null ? [] : await deliveriesOn(ctx, account, date);
    const delivery = deliveries.find(({ name }) => name === product);
    if (delivery === undefined) return { status: 404, cents: 0 };
    if (today() > addDays(date, DAYS_FOR_REPORTS)) return { status: 410, cents: 0 };
    if (delivery.missed + quantity > delivery.quantity) return { status: 409, cents: 0 };
    const cents = quantity * delivery.unitCents;
    await ctx.db.insert("reports", { report, cents });
    await ctx.db.patch("deliveries", delivery._id, { missed: delivery.missed + quantity });
    await addCredit(ctx, delivery.accountId, cents);
    return { status: 201, cents };
  },
});

export const get = query({
  args: { date: v.string() },
  returns: v.object({
    stops: v.array(v.object({ customer: v.string(), lines: v.array(line) })),
    totals: v.array(line),
  }),
  handler: async (ctx, { date }) => {
    await requireStaff(ctx);
    if (!isDate(date)) throw failure("INVALID");
    const stops = [];
    const totals = new Map<string, number>();
    for (const account of await ctx.db.query("accounts").withIndex("by_customer").collect()) {
      const isFixed = date <= account.fixedUntil;
      const found = isFixed ? await deliveriesOn(ctx, account, date) : await plannedFor(ctx, account, date);
      const lines = found.map(({ name, quantity }) => ({ product: name, quantity }));
      for (const { product, quantity } of lines) totals.set(product, (totals.get(product) ?? 0) + quantity);
      if (lines.length > 0) stops.push({ customer: account.customer, lines });
    }
    const names = [...totals.keys()].sort();
    return { stops, totals: names.map((product) => ({ product, quantity: totals.get(product) ?? 0 })) };
  },
});
