import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  payments: defineTable({
    order: v.string(),
    amount: v.number(),
    bankUrl: v.string(),
    state: v.union(
      v.literal("pending"),
      v.literal("paid"),
      v.literal("declined"),
      v.literal("failed"),
    ),
    receipt: v.union(v.string(), v.null()),
    failedAttempts: v.number(),
  })
    .index("by_order", ["order"])
    .index("by_state", ["state"]),
});
