import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { existing, fail } from "./lib/errors";
import { changeBalance } from "./lib/payments";

export const signUp = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    return await ctx.db.insert("customers", { name, spent: 0, tier: "basic", points: 0 });
  },
});

export const get = query({
  args: { customerId: v.id("customers") },
  handler: async (ctx, { customerId }) => {
    const { name, spent, tier, points } = existing(await ctx.db.get("customers", customerId));
    return { name, spent, tier, points: points ?? 0 };
  },
});

export const sellGiftCard = mutation({
  args: { code: v.string(), amount: v.number() },
  handler: async (ctx, { code, amount }) => {
    if (amount < 1) throw fail("INVALID");
    const giftCardId = await ctx.db.insert("giftCards", { code, balance: 0 });
    await changeBalance(ctx, giftCardId, amount);
    return null;
  },
});

export const balance = query({
  args: { code: v.string() },
  handler: async (ctx, { code }) => {
    const card = await ctx.db
      .query("giftCards")
      .withIndex("by_code", (q) => q.eq("code", code))
      .unique();
    return existing(card).balance;
  },
});

export const addCoupon = mutation({
  args: { code: v.string(), percent: v.number(), maxUses: v.number() },
  handler: async (ctx, args) => {
    await ctx.db.insert("coupons", { ...args, uses: 0 });
    return null;
  },
});

export const coupon = query({
  args: { code: v.string() },
  handler: async (ctx, { code }) => {
    const coupon = await ctx.db
      .query("coupons")
      .withIndex("by_code", (q) => q.eq("code", code))
      .unique();
    const { percent, uses, maxUses } = existing(coupon);
    return { percent, uses, maxUses };
  },
});
