import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { actor } from "./lib/access";
import { log } from "./lib/activity";
import { existing } from "./lib/errors";

/** Creates a workspace with its first member, who owns it. */
export const create = mutation({
  args: { name: v.string(), ownerName: v.string(), ownerEmail: v.string(), seats: v.optional(v.number()) },
  handler: async (ctx, { name, ownerName, ownerEmail, seats }) => {
    const workspaceId = await ctx.db.insert("workspaces", { name, activeMembers: 1, seats });
    const memberId = await ctx.db.insert("members", {
      workspaceId,
      name: ownerName,
      email: ownerEmail.toLowerCase(),
      role: "owner",
      active: true,
      openTasks: 0,
      unread: 0,
    });
    const owner = existing(await ctx.db.get("members", memberId));
    await log(ctx, owner, "workspace.create", name);
    return { workspaceId, memberId };
  },
});

export const get = query({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    const { workspaceId } = await actor(ctx, actorId);
    const workspace = existing(await ctx.db.get("workspaces", workspaceId));
    return { name: workspace.name, activeMembers: workspace.activeMembers, seats: workspace.seats ?? null };
  },
});

/** The log, newest first. */
export const activity = query({
  args: { actorId: v.id("members"), limit: v.number() },
  handler: async (ctx, { actorId, limit }) => {
    const { workspaceId } = await actor(ctx, actorId, "admin");
    const lines = await ctx.db
      .query("activity")
      .withIndex("by_workspace", (q) => q.eq("workspaceId", workspaceId))
      .order("desc")
      .take(limit);
    return lines.map(({ actorId, actorName, action, subject }) => ({ actorId, actorName, action, subject }));
  },
});
