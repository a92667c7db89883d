import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const role = v.union(v.literal("admin"), v.literal("agent"));

export default defineSchema({
  orgs: defineTable({ name: v.string() }),
  members: defineTable({
    orgId: v.id("orgs"),
    user: v.string(),
    role,
  }).index("by_org_and_user", ["orgId", "user"]),
  tickets: defineTable({
    orgId: v.id("orgs"),
    title: v.string(),
    body: v.string(),
    open: v.boolean(),
    isPrivate: v.boolean(),
    creator: v.string(),
    assignee: v.nullable(v.string()),
    originalId: v.optional(v.id("tickets")),
  })
    .index("by_org", ["orgId"])
    .index("by_org_and_title", ["orgId", "title"])
    .index("by_original", ["originalId"]),
});
