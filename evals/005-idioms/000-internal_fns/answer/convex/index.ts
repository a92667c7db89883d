import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  action,
  internalAction,
  internalMutation,
  internalQuery,
  mutation,
  query,
  type QueryCtx,
} from "./_generated/server";

const WELCOME_CODE = "WELCOME";
const WELCOME_CREDITS = 50;
const JOINING_CREDITS = 10;

export const balance = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const account = await accountOf(ctx, user);
    return account?.credits ?? 0;
  },
});

export const spend = mutation({
  args: { user: v.string(), amount: v.number() },
  handler: async (ctx, { user, amount }) => {
    const account = await accountOf(ctx, user);
    if (account === null || !(amount > 0 && amount <= account.credits)) {
      throw new Error(`${user} cannot spend ${amount} credits`);
    }
    const credits = account.credits - amount;
    await ctx.db.patch("accounts", account._id, { credits });
    return credits;
  },
});

export const redeem = action({
  args: { user: v.string(), code: v.string() },
  handler: async (ctx, { user, code }): Promise<number> => {
    if (code !== WELCOME_CODE) {
      throw new Error("There is no such code");
    }
    return await ctx.runMutation(internal.index.grant, {
      user,
      amount: WELCOME_CREDITS,
    });
  },
});

export const join = mutation({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    await ctx.scheduler.runAfter(0, internal.index.grant, {
      user,
      amount: JOINING_CREDITS,
    });
    return null;
  },
});

export const grant = internalMutation({
  args: { user: v.string(), amount: v.number() },
  handler: async (ctx, { user, amount }) => {
    const account = await accountOf(ctx, user);
    if (account === null) {
      await ctx.db.insert("accounts", { user, credits: amount });
      return amount;
    }
    const credits = account.credits + amount;
    await ctx.db.patch("accounts", account._id, { credits });
    return credits;
  },
});

export const total = internalQuery({
  args: {},
  handler: async (ctx) => {
    const accounts = await ctx.db.query("accounts").collect();
    return accounts.reduce((sum, { credits }) => sum + credits, 0);
  },
});

export const report = internalAction({
  args: {},
  handler: async (ctx): Promise<string> => {
    const credits = await ctx.runQuery(internal.index.total, {});
    return `${credits} credits`;
  },
});

async function accountOf(ctx: QueryCtx, user: string) {
  return await ctx.db
    .query("accounts")
    .withIndex("by_user", (q) => q.eq("user", user))
    .unique();
}
