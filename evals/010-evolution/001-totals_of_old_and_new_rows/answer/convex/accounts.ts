import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { balanceOf, changeEntry, isMigrated } from "./ledger";

export const open = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    return await ctx.db.insert("accounts", { name, negativeTotal: 0 });
  },
});

export const rename = mutation({
  args: { accountId: v.id("accounts"), name: v.string() },
  handler: async (ctx, { accountId, name }) => {
    await ctx.db.patch("accounts", accountId, { name });
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const accounts = await ctx.db.query("accounts").collect();
    return accounts.map(({ negativeTotal: _, ...account }) => account);
  },
});

export const balance = query({
  args: { accountId: v.id("accounts") },
  handler: async (ctx, { accountId }) => {
    return await balanceOf(ctx, accountId);
  },
});

/** The richest accounts; those with the same balance by name. */
export const richest = query({
  args: { limit: v.number() },
  handler: async (ctx, { limit }) => {
    if (await isMigrated(ctx)) {
      const accounts = await ctx.db
        .query("accounts")
        .withIndex("by_negative_total_and_name")
        .take(limit);
      return accounts.map(({ _id, name, negativeTotal }) => ({
        id: _id,
        name,
        cents: 0 - (negativeTotal ?? 0),
      }));
    }
    const result = [];
    for (const { _id, name } of await ctx.db.query("accounts").collect()) {
      result.push({ id: _id, name, cents: await balanceOf(ctx, _id) });
    }
    result.sort((a, b) => b.cents - a.cents || (a.name < b.name ? -1 : 1));
    return result.slice(0, limit);
  },
});

/** Moves everything into another account, and closes this one. */
export const merge = mutation({
  args: { accountId: v.id("accounts"), into: v.id("accounts") },
  handler: async (ctx, { accountId, into }) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_account", (q) => q.eq("accountId", accountId))
      .collect();
    for (const entry of entries) {
      await changeEntry(ctx, entry._id, { accountId: into });
    }
    await ctx.db.delete("accounts", accountId);
    return entries.length;
  },
});
