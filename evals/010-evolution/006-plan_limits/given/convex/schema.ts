import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const plan = v.union(v.literal("free"), v.literal("team"));

export default defineSchema({
  workspaces: defineTable({
    name: v.string(),
    plan,
    // Gets a new project every Monday.
    isWeekly: v.optional(v.boolean()),
  }),
  projects: defineTable({
    workspaceId: v.id("workspaces"),
    name: v.string(),
    isArchived: v.boolean(),
  }).index("by_workspace", ["workspaceId"]),
  files: defineTable({
    projectId: v.id("projects"),
    name: v.string(),
    bytes: v.number(),
  }).index("by_project", ["projectId"]),
  members: defineTable({
    workspaceId: v.id("workspaces"),
    user: v.string(),
  }).index("by_workspace_and_user", ["workspaceId", "user"]),
  invitations: defineTable({
    workspaceId: v.id("workspaces"),
    user: v.string(),
    expiresAt: v.number(),
  }).index("by_workspace_and_user", ["workspaceId", "user"]),
});
