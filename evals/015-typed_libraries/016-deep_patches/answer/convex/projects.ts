import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { applyPatch, at, patch } from "./lib/patches";

export const logHours = mutation({
  args: {
    projectId: v.id("projects"),
    userId: v.id("users"),
    hours: v.number(),
  },
  returns: v.number(),
  handler: async (ctx, { projectId, userId, hours }) => {
    const change = patch("projects")
      .expect("status", "active")
      .increment(`members.${userId}.hours`, hours)
      .increment("counters.entries", 1);
    await applyPatch(ctx, projectId, change);
    const project = await ctx.db.get("projects", projectId);
    return (project && at(project, `members.${userId}.hours`)) ?? 0;
  },
});
