import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalAction, internalMutation, mutation, query } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { day, fail, household, me, morning, nextBell, text } from "./calendar";
import { linesFor } from "./plans";
import { price } from "./products";

const DAY = 86_400_000;

const letter = v.object({ customer: v.string(), kind: v.string(), invoice: v.id("invoices") });
const bill = v.object({ invoice: v.id("invoices"), attempt: v.number(), customer: v.string(), cents: v.number() });

/** The clock strikes every day at 06:00. It starts with the first product. */
export async function wake(ctx: MutationCtx) {
  if ((await ctx.db.query("clock").first()) !== null) return;
  const bell = nextBell(Date.now());
  const next = bell % DAY === DAY / 4 ? bell : bell + DAY / 2;
  await ctx.db.insert("clock", { next });
  await ctx.scheduler.runAt(next, internal.invoices.strike, {});
}

async function draw(ctx: MutationCtx, customer: Doc<"households">, month: string, made: string) {
  let full = 0;
  let count = 0;
  const first = day(`${month}-01`);
  for (let each = first; text(each).startsWith(month); each += 1) {
    for (const { product, quantity } of await linesFor(ctx, customer.subject, text(each))) {
      full += quantity * price(product, text(each));
      count += 1;
    }
  }
  if (count === 0) return;
  const credited = full < customer.credit ? full : customer.credit;
  await ctx.db.patch("households", customer._id, { credit: customer.credit - credited });
  const state = full > credited ? ("open" as const) : ("paid" as const);
  await ctx.db.insert("invoices", { subject: customer.subject, month, made, full, credited, state, tries: [] });
}

async function attempt(ctx: MutationCtx, invoiceId: Id<"invoices">) {
  const invoice = (await ctx.db.get("invoices", invoiceId)) ?? fail("NOT_FOUND");
  const tries = [...invoice.tries, { until: nextBell(Date.now()), answered: false }];
  await ctx.db.patch("invoices", invoiceId, { tries });
  const cents = invoice.full - invoice.credited;
  return { invoice: invoiceId, attempt: tries.length, customer: invoice.subject, cents };
}

export const strike = internalMutation({
  args: {},
  handler: async (ctx) => {
    const clock = (await ctx.db.query("clock").first()) ?? fail("NO_CLOCK");
    await ctx.db.patch("clock", clock._id, { next: clock.next + DAY });
    await ctx.scheduler.runAt(clock.next + DAY, internal.invoices.strike, {});
    const date = text(morning(clock.next));
    const yesterday = text(morning(clock.next) - 1);
    for (const customer of await ctx.db.query("households").collect()) {
      const isLast = customer.lastDate === yesterday;
      const isOver = customer.lastDate !== null && customer.lastDate < yesterday;
      if (isLast || (date.endsWith("-01") && !isOver)) await draw(ctx, customer, yesterday.slice(0, 7), date);
    }
    const bills = [];
    const letters = [];
    for (const invoice of await ctx.db.query("invoices").collect()) {
      if (invoice.state === "paid") continue;
      const age = day(date) - day(invoice.made);
      const mail = { customer: invoice.subject, invoice: invoice._id };
      if (age === 0 || age === 3 || age === 7) bills.push(await attempt(ctx, invoice._id));
      if (age === 5 || age === 9) letters.push({ ...mail, kind: "reminder" });
      if (age !== 12) continue;
      await ctx.db.patch("invoices", invoice._id, { state: "overdue" });
      const customer = (await household(ctx, invoice.subject)) ?? fail("NOBODY");
      if (customer.blocked.some(({ until }) => until === null)) continue;
      const blocked = [...customer.blocked, { since: clock.next, until: null }];
      await ctx.db.patch("households", customer._id, { blocked });
      letters.push({ ...mail, kind: "suspended" });
    }
    if (bills.length + letters.length > 0) {
      await ctx.scheduler.runAfter(0, internal.invoices.send, { bills, letters });
    }
  },
});

export const send = internalAction({
  args: { bills: v.array(bill), letters: v.array(letter) },
  handler: async (ctx, { bills, letters }) => {
    const post = async (url: string, body: unknown) =>
      await fetch(new Request(url, { body: JSON.stringify(body), method: "post" }));
    const mailing = letters.map(async (each) => await post(process.env.MAIL_URL ?? "", each));
    const billing = bills.map(async (each) => {
      let isPaid = false;
      try {
        const response = await post(process.env.PAYMENTS_URL ?? "", each);
        const body = (await response.json()) as { status?: unknown } | null;
        isPaid = response.status === 200 && body?.status === "paid";
      } finally {
        await ctx.runMutation(internal.invoices.answered, { invoice: each.invoice, number: each.attempt, isPaid });
      }
    });
    await Promise.allSettled([...mailing, ...billing]);
  },
});

export const answered = internalMutation({
  args: { invoice: v.id("invoices"), number: v.number(), isPaid: v.boolean() },
  handler: async (ctx, { invoice: invoiceId, number, isPaid }) => {
    const invoice = (await ctx.db.get("invoices", invoiceId)) ?? fail("NOT_FOUND");
    const tries = invoice.tries.map((each, index) => (index === number - 1 ? { ...each, answered: true } : each));
    await ctx.db.patch("invoices", invoiceId, { tries });
    const customer = (await household(ctx, invoice.subject)) ?? fail("NOBODY");
    if (!isPaid) return;
    if (invoice.state === "paid") {
      const credit = customer.credit + invoice.full - invoice.credited;
      await ctx.db.patch("households", customer._id, { credit });
      return;
    }
    await ctx.db.patch("invoices", invoiceId, { state: "paid" });
    const all = await ctx.db.query("invoices").collect();
    const isLate = all.some(({ subject, state }) => subject === invoice.subject && state === "overdue");
    if (isLate || customer.blocked.every(({ until }) => until !== null)) return;
    const blocked = customer.blocked.map((each) => ({ ...each, until: each.until ?? Date.now() }));
    await ctx.db.patch("households", customer._id, { blocked });
    const letters = [{ customer: invoice.subject, kind: "resumed", invoice: invoiceId }];
    await ctx.scheduler.runAfter(0, internal.invoices.send, { bills: [], letters });
  },
});

export const pay = mutation({
  args: { invoiceId: v.id("invoices") },
  handler: async (ctx, { invoiceId }) => {
    const subject = await me(ctx);
    const invoice = await ctx.db.get("invoices", invoiceId);
    if (invoice?.subject !== subject) return fail("NOT_FOUND");
    if (invoice.state === "paid") fail("PAID");
    if (invoice.tries.some(({ until, answered: isOver }) => !isOver && Date.now() < until)) fail("BUSY");
    const bills = [await attempt(ctx, invoiceId)];
    await ctx.scheduler.runAfter(0, internal.invoices.send, { bills, letters: [] });
    return null;
  },
});

export const mine = query({
  args: {},
  handler: async (ctx) => {
    const subject = await me(ctx);
    const own = (await ctx.db.query("invoices").collect()).filter((each) => each.subject === subject).reverse();
    return own.map(({ _id, month, full, credited, state, tries }) => ({
      invoiceId: _id,
      month,
      cents: full,
      creditCents: credited,
      dueCents: full - credited,
      status: state,
      attempts: tries.length,
    }));
  },
});
