import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  internalMutation,
  internalQuery,
  type QueryCtx,
} from "./_generated/server";

const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;

export const addSecret = internalMutation({
  args: { bank: v.string(), secret: v.string() },
  handler: async (ctx, { bank, secret }) => {
    if ((await findSecret(ctx, bank, secret)) === null) {
      await ctx.db.insert("secrets", { bank, secret });
    }
    return null;
  },
});

export const removeSecret = internalMutation({
  args: { bank: v.string(), secret: v.string() },
  handler: async (ctx, { bank, secret }) => {
    const found = await findSecret(ctx, bank, secret);
    if (found !== null) {
      await ctx.db.delete("secrets", found._id);
    }
    return null;
  },
});

export const openAccount = internalMutation({
  args: { bank: v.string(), account: v.string() },
  handler: async (ctx, { bank, account }) => {
    if ((await findAccount(ctx, bank, account)) === null) {
      const fresh = { balance: 0, sequence: -1, events: 0 };
      await ctx.db.insert("accounts", { bank, account, ...fresh });
    }
    return null;
  },
});

export const account = internalQuery({
  args: { bank: v.string(), account: v.string() },
  handler: async (ctx, args) => {
    const found = await findAccount(ctx, args.bank, args.account);
    if (found === null) {
      return null;
    }
    const { balance, sequence, events } = found;
    return { balance, sequence, events };
  },
});

export const secrets = internalQuery({
  args: { bank: v.string() },
  handler: async (ctx, { bank }) => {
    const found = await ctx.db
      .query("secrets")
      .withIndex("by_bank_and_secret", (q) => q.eq("bank", bank))
      .collect();
    return found.map(({ secret }) => secret);
  },
});

type Outcome = "duplicate" | "unknown account" | "applied" | "outdated";

/** All of it in one transaction: an event that was checked but not applied must not count as accepted. */
export const receive = internalMutation({
  args: {
    bank: v.string(),
    id: v.string(),
    account: v.string(),
    sequence: v.number(),
    balance: v.number(),
  },
  handler: async (ctx, event): Promise<Outcome> => {
    const { bank, id: eventId, sequence, balance } = event;
    const before = await ctx.db
      .query("accepted")
      .withIndex("by_bank_and_event", (q) =>
        q.eq("bank", bank).eq("eventId", eventId),
      )
      .unique();
    if (before !== null) {
      return "duplicate";
    }
    const found = await findAccount(ctx, bank, event.account);
    if (found === null) {
      return "unknown account";
    }
    const acceptedId = await ctx.db.insert("accepted", { bank, eventId });
    const forget = internal.banks.forget;
    await ctx.scheduler.runAfter(REMEMBERED_MS, forget, { acceptedId });
    const isNewer = sequence > found.sequence;
    await ctx.db.patch("accounts", found._id, {
      events: found.events + 1,
      ...(isNewer ? { sequence, balance } : {}),
    });
    return isNewer ? "applied" : "outdated";
  },
});

export const forget = internalMutation({
  args: { acceptedId: v.id("accepted") },
  handler: async (ctx, { acceptedId }) => {
    await ctx.db.delete("accepted", acceptedId);
    return null;
  },
});

async function findSecret(ctx: QueryCtx, bank: string, secret: string) {
  return await ctx.db
    .query("secrets")
    .withIndex("by_bank_and_secret", (q) =>
      q.eq("bank", bank).eq("secret", secret),
    )
    .unique();
}

async function findAccount(ctx: QueryCtx, bank: string, name: string) {
  return await ctx.db
    .query("accounts")
    .withIndex("by_bank_and_account", (q) =>
      q.eq("bank", bank).eq("account", name),
    )
    .unique();
}
