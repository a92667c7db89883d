import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

export const add = internalMutation({
  args: { email: v.string() },
  handler: async (ctx, { email }) => {
    return await ctx.db.insert("signups", { email });
  },
});

export const emails = internalQuery({
  args: {},
  handler: async (ctx) => {
    const signups = await ctx.db.query("signups").collect();
    return signups.map(({ email }) => email);
  },
});
