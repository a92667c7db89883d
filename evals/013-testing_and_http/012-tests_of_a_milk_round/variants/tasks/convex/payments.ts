import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction, internalMutation } from "./_generated/server";
import { memberCalled, write } from "./access";
import { refuse } from "./calendar";

async function send(address: string | undefined, body: unknown) {
  const url = address !== undefined && URL.canParse(address) ? new URL(address) : "";
  return await fetch(url, { body: JSON.stringify(body), method: "POST" });
}

export const ask = internalAction({
  args: { attemptId: v.id("attempts"), body: v.any() },
  handler: async (ctx, { attemptId, body }) => {
    const isPaid = await send(process.env.PAYMENTS_URL, body)
      .then(async (response) => {
        const answer = (await response.json()) as { status?: string };
        return response.status === 200 && answer.status === "paid";
      })
      .catch(() => false);
    await ctx.runMutation(internal.payments.told, { attemptId, isPaid });
  },
});

export const told = internalMutation({
  args: { attemptId: v.id("attempts"), isPaid: v.boolean() },
  handler: async (ctx, { attemptId, isPaid }) => {
    const { invoiceId } = (await ctx.db.get("attempts", attemptId)) ?? refuse("NOT_FOUND");
    await ctx.db.patch("attempts", attemptId, { state: "answered" });
    if (!isPaid) return;
    const invoice = (await ctx.db.get("invoices", invoiceId)) ?? refuse("NOT_FOUND");
    const { member: name, total, used, isPaid: wasPaid } = invoice;
    if (wasPaid) await ctx.db.insert("money", { member: name, cents: total - used, why: attemptId });
    await ctx.db.patch("invoices", invoiceId, { isPaid: true });
    const member = await memberCalled(ctx, name);
    const late = (await ctx.db.query("invoices").collect()).filter(
      (each) => each.member === name && each.isLate && !each.isPaid,
    );
    if (wasPaid || member?.isSuspended !== true || late.length > 0) return;
    await ctx.db.patch("members", member._id, { isSuspended: false });
    await write(ctx, invoice, "resumed");
  },
});

export const tell = internalAction({
  args: { customer: v.string(), kind: v.string(), invoice: v.id("invoices") },
  handler: async (_ctx, args) => {
    await send(process.env.MAIL_URL, args).catch(() => null);
  },
});
