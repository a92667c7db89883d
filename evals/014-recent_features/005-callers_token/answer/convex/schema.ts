import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  tokens: defineTable({
    user: v.string(),
    fingerprint: v.string(),
    device: v.string(),
    isBlocked: v.boolean(),
  })
    .index("by_fingerprint", ["fingerprint"])
    .index("by_user", ["user", "isBlocked"]),
});
