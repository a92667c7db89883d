import { v } from "convex/values";
import { internalMutation, mutation } from "./_generated/server";
import { plan } from "./schema";

export const create = mutation({
  args: { name: v.string(), user: v.string() },
  handler: async (ctx, { name, user }) => {
    const plan = "free" as const;
    const workspaceId = await ctx.db.insert("workspaces", { name, plan });
    await ctx.db.insert("members", { workspaceId, user });
    return workspaceId;
  },
});

export const setWeekly = mutation({
  args: { workspaceId: v.id("workspaces"), isWeekly: v.boolean() },
  handler: async (ctx, { workspaceId, isWeekly }) => {
    await ctx.db.patch("workspaces", workspaceId, { isWeekly });
    return null;
  },
});

/** Called by the billing system. */
export const setPlan = internalMutation({
  args: { workspaceId: v.id("workspaces"), plan },
  handler: async (ctx, { workspaceId, plan }) => {
    await ctx.db.patch("workspaces", workspaceId, { plan });
    return null;
  },
});
