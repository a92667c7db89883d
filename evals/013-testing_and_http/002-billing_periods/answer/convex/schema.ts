import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  subscriptions: defineTable({
    cents: v.number(),
    offset: v.number(),
    start: v.number(),
    // How many have begun.
    periods: v.number(),
    status: v.union(
      v.literal("active"),
      v.literal("ending"),
      v.literal("ended"),
    ),
  }),
  invoices: defineTable({
    subscriptionId: v.id("subscriptions"),
    from: v.number(),
    to: v.number(),
    cents: v.number(),
  }).index("by_subscription", ["subscriptionId", "from"]),
  reminders: defineTable({
    subscriptionId: v.id("subscriptions"),
    at: v.number(),
    cents: v.number(),
  }).index("by_subscription", ["subscriptionId", "at"]),
});
