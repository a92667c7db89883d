import { v } from "convex/values";
import { query } from "./_generated/server";
import { mutation } from "./functions";

export const join = mutation({
  args: { name: v.string(), email: v.string() },
  handler: async (ctx, args) => await ctx.db.insert("members", args),
});

export const correctEmail = mutation({
  args: { member: v.id("members"), email: v.string() },
  handler: async (ctx, { member, email }) => {
    await ctx.db.patch("members", member, { email });
    return null;
  },
});

export const historyOf = query({
  args: { member: v.id("members") },
  handler: async (ctx, { member }) => {
    const entries = await ctx.db
      .query("history")
      .withIndex("by_member", (q) => q.eq("member", member))
      .collect();
    return entries.map(({ change }) => change);
  },
});
