import { v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";

export const add = mutation({
  args: { accountId: v.id("accounts"), cents: v.number(), note: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("entries", args);
  },
});

export const edit = mutation({
  args: {
    entryId: v.id("entries"),
    cents: v.optional(v.number()),
    note: v.optional(v.string()),
  },
  handler: async (ctx, { entryId, ...changes }) => {
    await ctx.db.patch("entries", entryId, changes);
    return null;
  },
});

export const move = mutation({
  args: { entryId: v.id("entries"), accountId: v.id("accounts") },
  handler: async (ctx, { entryId, accountId }) => {
    await ctx.db.patch("entries", entryId, { accountId });
    return null;
  },
});

export const remove = mutation({
  args: { entryId: v.id("entries") },
  handler: async (ctx, { entryId }) => {
    await ctx.db.delete("entries", entryId);
    return null;
  },
});

/** The last entries of an account, newest first. */
export const latest = query({
  args: { accountId: v.id("accounts"), limit: v.number() },
  handler: async (ctx, { accountId, limit }) => {
    return await ctx.db
      .query("entries")
      .withIndex("by_account", (q) => q.eq("accountId", accountId))
      .order("desc")
      .take(limit);
  },
});

/** Called by the bank's nightly import. */
export const load = internalMutation({
  args: {
    accountId: v.id("accounts"),
    rows: v.array(v.object({ cents: v.number(), note: v.string() })),
  },
  handler: async (ctx, { accountId, rows }) => {
    for (const row of rows) {
      await ctx.db.insert("entries", { accountId, ...row });
    }
    return null;
  },
});
