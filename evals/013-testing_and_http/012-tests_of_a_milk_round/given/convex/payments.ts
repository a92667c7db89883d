import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalAction, internalMutation } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { addCredit } from "./accounts";
import { nextDeadline } from "./calendar";
import { invoicesOf, notify } from "./invoices";

async function post(url: string | undefined, body: unknown) {
  const headers = { "Content-Type": "application/json" };
  return await fetch(url ?? "", { method: "POST", headers, body: JSON.stringify(body) });
}

/** One more attempt to collect what is due; one that is still pending does not count any more. */
export async function beginAttempt(ctx: MutationCtx, invoiceId: Id<"invoices">) {
  const invoice = await ctx.db.get("invoices", invoiceId);
  const account = invoice === null ? null : await ctx.db.get("accounts", invoice.accountId);
  if (invoice === null || account === null) return;
  const attempt = invoice.attempts + 1;
  await ctx.db.patch("invoices", invoiceId, { attempts: attempt, pending: attempt });
  const request = { invoiceId, attempt, customer: account.customer, cents: invoice.dueCents };
  await ctx.scheduler.runAfter(0, internal.payments.collect, request);
  await ctx.scheduler.runAt(nextDeadline(), internal.payments.giveUp, { invoiceId, attempt });
}

/** The provider has collected the money only if it says so. */
async function isPaid(response: Response) {
  if (response.status !== 200) return false;
  const answer = (await response.json()) as { status?: unknown } | null;
  return answer?.status === "paid";
}

export const collect = internalAction({
  args: { invoiceId: v.id("invoices"), attempt: v.number(), customer: v.string(), cents: v.number() },
  returns: v.null(),
  handler: async (ctx, { invoiceId, attempt, customer, cents }) => {
    let paid = false;
    try {
      paid = await isPaid(await post(process.env.PAYMENTS_URL, { invoice: invoiceId, attempt, customer, cents }));
    } catch {
      // No answer, or one that nobody understands: not paid.
    }
    await ctx.runMutation(internal.payments.record, { invoiceId, attempt, paid });
    return null;
  },
});

/** Answers count whenever they come. */
export const record = internalMutation({
  args: { invoiceId: v.id("invoices"), attempt: v.number(), paid: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { invoiceId, attempt, paid }) => {
    const invoice = await ctx.db.get("invoices", invoiceId);
    if (invoice === null) return null;
    if (invoice.pending === attempt) await ctx.db.patch("invoices", invoiceId, { pending: null });
    if (!paid) return null;
    if (invoice.status === "paid") {
      await addCredit(ctx, invoice.accountId, invoice.dueCents);
      return null;
    }
    await ctx.db.patch("invoices", invoiceId, { status: "paid" });
    const account = await ctx.db.get("accounts", invoice.accountId);
    if (account === null || !account.suspended) return null;
    const invoices = await invoicesOf(ctx, account._id);
    if (invoices.some(({ status }) => status === "overdue")) return null;
    await ctx.db.patch("accounts", account._id, { suspended: false });
    await notify(ctx, invoice, "resumed");
    return null;
  },
});

/** There was no answer in time. */
export const giveUp = internalMutation({
  args: { invoiceId: v.id("invoices"), attempt: v.number() },
  returns: v.null(),
  handler: async (ctx, { invoiceId, attempt }) => {
    const invoice = await ctx.db.get("invoices", invoiceId);
    if (invoice?.pending === attempt) await ctx.db.patch("invoices", invoiceId, { pending: null });
    return null;
  },
});

export const mail = internalAction({
  args: { customer: v.string(), kind: v.string(), invoice: v.id("invoices") },
  returns: v.null(),
  handler: async (_ctx, { customer, kind, invoice }) => {
    try {
      await post(process.env.MAIL_URL, { customer, kind, invoice });
    } catch {
      // Mails are not sent twice.
    }
    return null;
  },
});
