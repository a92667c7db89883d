import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

export const open = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    return await ctx.db.insert("accounts", { name });
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
    return await ctx.db.query("accounts").collect();
  },
});

export const balance = query({
  args: { accountId: v.id("accounts") },
  handler: async (ctx, { accountId }) => {
    return await sumOfEntries(ctx, accountId);
  },
});

/** The richest accounts; those with the same balance by name. */
export const richest = query({
  args: { limit: v.number() },
  handler: async (ctx, { limit }) => {
    const result = [];
    for (const { _id, name } of await ctx.db.query("accounts").collect()) {
      result.push({ id: _id, name, cents: await sumOfEntries(ctx, _id) });
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
      await ctx.db.patch("entries", entry._id, { accountId: into });
    }
    await ctx.db.delete("accounts", accountId);
    return entries.length;
  },
});

async function sumOfEntries(ctx: QueryCtx, accountId: Id<"accounts">) {
  const entries = await ctx.db
    .query("entries")
    .withIndex("by_account", (q) => q.eq("accountId", accountId))
    .collect();
  return entries.reduce((sum, entry) => sum + entry.cents, 0);
}
