import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { failure, requireCustomer } from "./access";
import { accountOf, addCredit } from "./accounts";
import { addDays, firstDayOf, lastDayOf, morningOf } from "./calendar";
import { beginAttempt } from "./payments";
import { invoiceStatus } from "./schema";

const RETRY_DAYS = [3, 7];
const REMINDER_DAYS = [5, 9];
const OVERDUE_DAY = 12;

export async function invoicesOf(ctx: QueryCtx, accountId: Id<"accounts">) {
  return await ctx.db
    .query("invoices")
    .withIndex("by_account", (q) => q.eq("accountId", accountId))
    .order("desc")
    .collect();
}

/** Mails are sent one by one, after the transaction. */
export async function notify(ctx: MutationCtx, invoice: Doc<"invoices">, kind: "reminder" | "suspended" | "resumed") {
  const account = await ctx.db.get("accounts", invoice.accountId);
  if (account === null) return;
  const mail = { customer: account.customer, kind, invoice: invoice._id };
  await ctx.scheduler.runAfter(0, internal.payments.mail, mail);
}

async function suspend(ctx: MutationCtx, invoice: Doc<"invoices">) {
  await ctx.db.patch("invoices", invoice._id, { status: "overdue" });
  const account = await ctx.db.get("accounts", invoice.accountId);
  if (account === null || account.suspended) return;
  await ctx.db.patch("accounts", account._id, { suspended: true });
  await notify(ctx, invoice, "suspended");
}

/** For the deliveries of a month, on this date. */
export const make = internalMutation({
  args: { accountId: v.id("accounts"), month: v.string(), date: v.string() },
  returns: v.null(),
  handler: async (ctx, { accountId, month, date }) => {
    const account = await ctx.db.get("accounts", accountId);
    const deliveries = await ctx.db
      .query("deliveries")
      .withIndex("by_account_and_date", (q) =>
        q.eq("accountId", accountId).gte("date", firstDayOf(month)).lte("date", lastDayOf(month)),
      )
      .collect();
    if (account === null || deliveries.length === 0) return null;
    const cents = deliveries.reduce((sum, { quantity, unitCents }) => sum + quantity * unitCents, 0);
    const creditCents = Math.min(account.creditCents, cents);
    const dueCents = cents - creditCents;
    await addCredit(ctx, accountId, -creditCents);
    const status = dueCents === 0 ? ("paid" as const) : ("open" as const);
    const amounts = { cents, creditCents, dueCents };
    const invoice = { accountId, month, ...amounts, status, attempts: 0, pending: null };
    const invoiceId = await ctx.db.insert("invoices", invoice);
    if (status === "paid") return null;
    await beginAttempt(ctx, invoiceId);
    for (const days of [...RETRY_DAYS, ...REMINDER_DAYS, OVERDUE_DAY]) {
      await ctx.scheduler.runAt(morningOf(addDays(date, days)), internal.invoices.pursue, { invoiceId, days });
    }
    return null;
  },
});

/** What is done about an invoice, some days after it was made, unless it is paid by then. */
export const pursue = internalMutation({
  args: { invoiceId: v.id("invoices"), days: v.number() },
  returns: v.null(),
  handler: async (ctx, { invoiceId, days }) => {
    const invoice = await ctx.db.get("invoices", invoiceId);
    if (invoice === null || invoice.status === "paid") return null;
    if (RETRY_DAYS.includes(days)) await beginAttempt(ctx, invoiceId);
    if (REMINDER_DAYS.includes(days)) await notify(ctx, invoice, "reminder");
    if (days === OVERDUE_DAY) await suspend(ctx, invoice);
    return null;
  },
});

export const pay = mutation({
  args: { invoiceId: v.id("invoices") },
  returns: v.null(),
  handler: async (ctx, { invoiceId }) => {
    const account = await accountOf(ctx, await requireCustomer(ctx));
    const invoice = await ctx.db.get("invoices", invoiceId);
    if (account === null || invoice?.accountId !== account._id) throw failure("NOT_FOUND");
    if (invoice.status === "paid") throw failure("PAID");
    if (invoice.pending !== null) throw failure("BUSY");
    await beginAttempt(ctx, invoiceId);
    return null;
  },
});

export const mine = query({
  args: {},
  returns: v.array(
    v.object({
      invoiceId: v.id("invoices"),
      month: v.string(),
      cents: v.number(),
      creditCents: v.number(),
      dueCents: v.number(),
      status: invoiceStatus,
      attempts: v.number(),
    }),
  ),
  handler: async (ctx) => {
    const account = await accountOf(ctx, await requireCustomer(ctx));
    const invoices = account === null ? [] : await invoicesOf(ctx, account._id);
    return invoices.map(({ _id: invoiceId, month, cents, creditCents, dueCents, status, attempts }) => {
      return { invoiceId, month, cents, creditCents, dueCents, status, attempts };
    });
  },
});
