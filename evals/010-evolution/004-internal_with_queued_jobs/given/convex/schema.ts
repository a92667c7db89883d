import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  subscribers: defineTable({
    email: v.string(),
    name: v.string(),
  }).index("by_email", ["email"]),
  campaigns: defineTable({
    subject: v.string(),
    status: v.union(
      v.literal("draft"),
      v.literal("scheduled"),
      v.literal("sent"),
    ),
    jobId: v.optional(v.id("_scheduled_functions")),
  }),
  // What is to happen on an event: the name of a mutation, like
  // "delivery:welcome". Rows are added by hand, in the dashboard.
  automations: defineTable({
    event: v.string(),
    handler: v.string(),
  }).index("by_event", ["event"]),
  // key "mailUrl": where mails are posted to
  settings: defineTable({
    key: v.string(),
    value: v.string(),
  }).index("by_key", ["key"]),
  deliveries: defineTable({
    campaignId: v.optional(v.id("campaigns")),
    email: v.string(),
    attempts: v.number(),
  }).index("by_campaign", ["campaignId"]),
});
