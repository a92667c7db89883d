import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { payment } from "./schema";

export const record = mutation({
  args: { payment },
  handler: async (ctx, { payment }) => {
    return await ctx.db.insert("payments", payment);
  },
});

export const correct = mutation({
  args: { paymentId: v.id("payments"), payment },
  handler: async (ctx, { paymentId, payment }) => {
    await ctx.db.replace("payments", paymentId, payment);
    return null;
  },
});

export const describe = query({
  args: { paymentId: v.id("payments") },
  handler: async (ctx, { paymentId }) => {
    const payment = await ctx.db.get("payments", paymentId);
    switch (payment?.kind) {
      case undefined:
        return null;
      case "card":
        return `card ${payment.brand} ending in ${payment.lastDigits}`;
      case "transfer":
        return `transfer from ${payment.iban}`;
      case "cash":
        return `cash received by ${payment.receivedBy}`;
    }
  },
});

export const byKind = query({
  args: {
    kind: v.union(v.literal("card"), v.literal("transfer"), v.literal("cash")),
  },
  handler: async (ctx, { kind }) => {
    return await ctx.db
      .query("payments")
      .withIndex("by_kind", (q) => q.eq("kind", kind))
      .collect();
  },
});
