import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const role = v.union(v.literal("reader"), v.literal("editor"), v.literal("owner"));

export default defineSchema({
  members: defineTable({ name: v.string(), token: v.string(), role }).index("by_token", ["token"]),
  projects: defineTable({ name: v.string(), ownerId: v.id("members"), archived: v.boolean() }).index("by_owner", [
    "ownerId",
  ]),
  audit: defineTable({
    what: v.string(),
    by: v.id("members"),
    projectId: v.optional(v.id("projects")),
    result: v.string(),
  }),
  steps: defineTable({ text: v.string() }),
});
