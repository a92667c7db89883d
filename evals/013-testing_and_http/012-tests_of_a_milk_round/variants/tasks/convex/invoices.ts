import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { attemptsOf, doDue, tryNow } from "./access";
import { caller, refuse } from "./calendar";

export const pay = mutation({
  args: { invoiceId: v.id("invoices") },
  handler: async (ctx, { invoiceId }) => {
    await doDue(ctx);
    const name = await caller(ctx);
    const invoice = await ctx.db.get("invoices", invoiceId);
    if (invoice?.member !== name) return refuse("NOT_FOUND");
    if (invoice.isPaid) refuse("PAID");
    const attempts = await attemptsOf(ctx, invoiceId);
    if (attempts.some(({ state }) => state === "waiting")) refuse("BUSY");
    await tryNow(ctx, invoice);
    return null;
  },
});

export const mine = query({
  args: {},
  handler: async (ctx) => {
    const name = await caller(ctx);
    const rows = [];
    for (const { _id, member, month, total, used, isPaid, isLate } of await ctx.db.query("invoices").collect()) {
      if (member !== name) continue;
      const status = isPaid ? "paid" : isLate ? "overdue" : "open";
      const attempts = (await attemptsOf(ctx, _id)).length;
      const cents = { cents: total, creditCents: used, dueCents: total - used };
      rows.unshift({ invoiceId: _id, month, status, attempts, ...cents });
    }
    return rows;
  },
});
